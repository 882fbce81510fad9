package sluice.api.model;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import sluice.region.pause.Depth;
import sluice.region.pause.ProcessPause.Host;
import sluice.region.pause.ProcessPause.Moving;

/// A pause or a resume of a tenant, at one moment.
///
/// @param uid        user of the tenant
/// @param moving     the step that is under way
/// @param host       where the tenant's memory is
/// @param reason     why it waits or has failed; empty: no reason
/// @param beganNanos since 1970
/// @param endedNanos since 1970; 0 = it runs
public record Operation(String id, String tenant, long uid, Kind kind, State state, Moving moving, Host host, String reason, long beganNanos,
        long endedNanos) {

    /// The kind of operation.
    public enum Kind {
        HOLD(Depth.HOLD), RELEASE(Depth.RELEASE), VACATE(Depth.VACATE), RESUME(Depth.RUN);

        private final Depth depth;

        Kind(Depth depth) {
            this.depth = depth;
        }

        public static Kind of(Depth depth) {
            return Arrays.stream(values()).filter(kind -> kind.depth == depth).findFirst().orElseThrow();
        }

        public static Optional<Kind> find(String word) {
            return Arrays.stream(values()).filter(kind -> kind.word().equals(word)).findFirst();
        }

        public Depth depth() {
            return depth;
        }

        public boolean isPause() {
            return depth.isPause();
        }

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// The status of an operation.
    public enum State {
        RUNNING,
        DONE,
        /// A process refused, or the tenant has ended. A pause that a process refused was withdrawn.
        FAILED,
        /// Withdrawn before it was done: the tenant has its earlier command again.
        WITHDRAWN;

        public static Optional<State> find(String word) {
            return Arrays.stream(values()).filter(state -> state.word().equals(word)).findFirst();
        }

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public boolean runs() {
        return state == State.RUNNING;
    }

    public Operation ended(State how, String why, long atNanos) {
        return new Operation(id, tenant, uid, kind, how, Moving.NONE, host, why, beganNanos, atNanos);
    }
}
