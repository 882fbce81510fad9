package sluice.proof.facts;

import sluice.cuda.Status;
import sluice.region.limits.Size;

/// Assertions for checks. Each method throws CheckFailed with the expected and the seen value.
public final class Expect {
    private static final long SLACK_BYTES = 4L << 20;
    private static final double SLACK_SHARE = 0.01;

    private Expect() {}

    public static void that(boolean holds, String otherwise) {
        if (!holds) {
            throw new CheckFailed(otherwise);
        }
    }

    /// A bound of safety: a cap overshot, two holders at once. A failure is never tried again.
    public static void safe(boolean holds, String otherwise) {
        if (!holds) {
            throw new CheckFailed(otherwise, true);
        }
    }

    public static void status(String call, int expected, int seen) {
        that(seen == expected, call + " answered " + named(seen) + ", expected " + named(expected));
    }

    public static void success(String call, int seen) {
        status(call, Status.SUCCESS, seen);
    }

    public static void refused(String call, int seen) {
        status(call, Status.OUT_OF_MEMORY, seen);
    }

    public static void bytes(String what, long expected, long seen) {
        that(seen == expected, what + " is " + exact(seen) + ", expected " + exact(expected));
    }

    /// Equal within 4 MiB or 1 %, whichever is more: other users of the GPU must not make a check fail.
    public static void near(String what, long expected, long seen) {
        that(isNear(expected, seen), what + " is " + exact(seen) + ", expected about " + exact(expected));
    }

    public static boolean isNear(long expected, long seen) {
        return Math.abs(seen - expected) <= Math.max(SLACK_BYTES, (long) (expected * SLACK_SHARE));
    }

    private static String named(int status) {
        return status + " (" + Status.name(status) + ")";
    }

    private static String exact(long bytes) {
        return bytes < 1024 ? bytes + " B" : Size.format(bytes) + " (" + bytes + ")";
    }
}
