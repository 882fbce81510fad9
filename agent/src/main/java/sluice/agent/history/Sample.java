package sluice.agent.history;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/// The values of one series of the history at one moment.
///
/// @param series     its number in the file
/// @param second     since 1970
/// @param usedBytes  of memory
/// @param limitBytes 0 = none; of a GPU itself all that it has
/// @param gotPermille of the GPU's time; -1 = not known
/// @param submittedPerSecond calls that put work on the GPU
/// @param waitedPermille for the cap and the turn, of the time that passed, all threads together
record Sample(int series, long second, long usedBytes, long limitBytes, int gotPermille, int submittedPerSecond, int waitedPermille) {
    static final int BYTES = 56;
    private static final int CHECKED_BYTES = BYTES - Integer.BYTES;

    /// A sample begins with its number in the ring, and ends with the check that it is whole.
    void write(ByteBuffer to, long number) {
        int from = to.position();
        to.putLong(number).putLong(second).putLong(usedBytes).putLong(limitBytes);
        to.putInt(series).putInt(gotPermille).putInt(submittedPerSecond).putInt(waitedPermille).putInt(0);
        to.putInt(sum(to, from));
    }

    /// The sample at a position, or null when it was never written, or only in part.
    static Sample read(ByteBuffer from, int at) {
        if (from.getLong(at) <= 0 || from.getInt(at + CHECKED_BYTES) != sum(from, at)) {
            return null;
        }
        return new Sample(from.getInt(at + 32), from.getLong(at + 8), from.getLong(at + 16), from.getLong(at + 24),
                from.getInt(at + 36), from.getInt(at + 40), from.getInt(at + 44));
    }

    static long number(ByteBuffer from, int at) {
        return from.getLong(at);
    }

    private static int sum(ByteBuffer bytes, int at) {
        CRC32C sum = new CRC32C();
        sum.update(bytes.duplicate().limit(at + CHECKED_BYTES).position(at));
        return (int) sum.getValue();
    }
}
