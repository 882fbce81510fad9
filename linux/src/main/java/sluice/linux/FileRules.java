package sluice.linux;

import java.nio.file.FileSystemException;

/// What a file must be before it is used. A user can put anything under any name in a folder of their own.
///
/// @param owner     the user it must belong to; [#ANYBODY] for no matter whom. This keeps the files of others safe: a user can open a
///                  name of such a file for us and remove the name before its links are counted.
/// @param mostBytes how long it may be
/// @param oneName   whether a second name makes it unusable: thousands of names of one file cost the same as thousands of files
public record FileRules(long owner, long mostBytes, boolean oneName) {
    public static final long ANYBODY = -1;

    /// A regular file of a user, up to a size, with one name.
    public static FileRules of(long owner, long mostBytes) {
        return new FileRules(owner, mostBytes, true);
    }

    /// A file that may have a second name for a moment, as files have that are linked to their real name when they are complete.
    public FileRules withMoreNames() {
        return new FileRules(owner, mostBytes, false);
    }

    void check(String name, FileStatus status) throws FileSystemException {
        if (!status.isRegular()) {
            throw new FileSystemException(name, null, "is not a regular file");
        }
        if (owner != ANYBODY && status.uid() != owner) {
            throw new FileSystemException(name, null, "belongs to user " + status.uid() + ", not to " + owner);
        }
        if (status.bytes() > mostBytes) {
            throw new FileSystemException(name, null, "is too long (" + status.bytes() + " bytes)");
        }
        if (oneName && status.links() > 1) {
            throw new FileSystemException(name, null, "has " + status.links() + " names");
        }
    }
}
