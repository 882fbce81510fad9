package sluice.linux;

import java.nio.ByteBuffer;
import java.time.Instant;

/// The kernel's status of an open file. The layout is that of `struct statx`, the same on all processors.
///
/// @param links how many names it has
/// @param taken what its contents take, without holes
public record FileStatus(int mode, long uid, long gid, long links, long bytes, long taken, long inode, Instant modified) {
    static final int STRUCT_BYTES = 256;
    static final int BASIC = 0x7ff;
    private static final int BLOCK = 512;
    private static final int TYPE = 0170000;
    private static final int REGULAR = 0100000;

    static FileStatus of(ByteBuffer statx) {
        return new FileStatus(Short.toUnsignedInt(statx.getShort(28)), Integer.toUnsignedLong(statx.getInt(20)), Integer.toUnsignedLong(statx.getInt(24)),
                Integer.toUnsignedLong(statx.getInt(16)), statx.getLong(40), statx.getLong(48) * BLOCK, statx.getLong(32),
                Instant.ofEpochSecond(statx.getLong(112), statx.getInt(120)));
    }

    public boolean isRegular() {
        return (mode & TYPE) == REGULAR;
    }

    /// The rights, without the type.
    public int rights() {
        return mode & 07777;
    }
}
