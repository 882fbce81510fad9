package sluice.cli.tables;

import java.util.Locale;
import sluice.api.model.Operation;
import sluice.api.pause.RestText;
import sluice.cli.output.Text;
import sluice.region.limits.Size;
import sluice.region.pause.Depth;
import sluice.region.pause.ProcessPause.Host;
import sluice.region.pause.ProcessPause.Moving;

/// A pause or a resume in words: its progress, and its result.
public final class OperationText {
    private OperationText() {}

    /// The line for a tenant that was asked without waiting.
    public static String asked(Operation operation) {
        return operation.tenant() + ": asked to " + operation.kind().word() + "; 'sluice ps' shows how far it is";
    }

    public static String progress(Operation operation, long nowNanos) {
        return operation.tenant() + ": " + moving(operation.moving(), operation.reason(), nowNanos);
    }

    /// The step in words, then bytes, speed and time left where they are known.
    public static String moving(Moving moving, String reason, long nowNanos) {
        if (!moving.step().isUnderWay()) {
            return "waiting for its processes";
        }
        String words = moving.step().words();
        if (moving.totalBytes() > 0) {
            words += ", " + Size.format(moving.movedBytes()) + " of " + Size.format(moving.totalBytes()) + speed(moving, nowNanos - moving.sinceNanos());
        }
        return reason.isEmpty() ? words : words + ": " + Text.visible(reason);
    }

    private static String speed(Moving moving, long nanos) {
        if (nanos <= 0 || moving.movedBytes() <= 0 || moving.sinceNanos() == 0) {
            return "";
        }
        double perNano = (double) moving.movedBytes() / nanos;
        long left = Math.round((moving.totalBytes() - moving.movedBytes()) / perNano);
        return String.format(Locale.ROOT, ", %.1f GB/s, %s left", perNano, Text.duration(Math.max(0, left)));
    }

    /// One line with its result, or that it is still running.
    public static String result(Operation operation) {
        String name = operation.tenant();
        return switch (operation.state()) {
            case DONE -> name + done(operation) + " (" + Text.duration(operation.endedNanos() - operation.beganNanos()) + ")";
            case FAILED -> name + " could not " + operation.kind().word() + ": " + why(operation);
            case WITHDRAWN -> name + ": the pause is withdrawn (" + why(operation) + "); it does what it did before";
            case RUNNING -> name + ": not done yet, it goes on in the background; 'sluice ps' shows how far it is";
        };
    }

    private static String why(Operation operation) {
        return operation.reason().isEmpty() ? "no reason given; see 'sluice inspect " + operation.tenant() + "'" : Text.visible(operation.reason());
    }

    private static String done(Operation operation) {
        Host host = operation.host();
        return switch (operation.kind()) {
            case HOLD -> " is paused; its memory stays on the GPU";
            case RELEASE -> " is released: " + Size.format(host.awayBytes()) + " are in host memory, " + RestText.of(host, Depth.RELEASE);
            case VACATE -> " is vacated: " + Size.format(host.awayBytes()) + " are in host memory, the driver's state is stored, " + RestText.of(host, Depth.VACATE);
            case RESUME -> " runs";
        };
    }
}
