package sluice.linux;

/// Rules that a file must keep before it is used. A user can put anything under any name in a folder of their own.
///
/// @param owner     the user it must belong to; [#ANYBODY]: any user. This protects the files of other users: a user can open a
///                  name of such a file for us and remove the name before its links are counted.
/// @param mostBytes how long it may be
/// @param mostNames how many names it may have: thousands of names of one file cost the same as thousands of files. Two are
///                  needed where a complete file is linked to its real name and then loses the first one.
public record FileRules(long owner, long mostBytes, int mostNames) {
    public static final long ANYBODY = -1;

    /// A regular file of a user, up to a size, with one name.
    public static FileRules of(long owner, long mostBytes) {
        return new FileRules(owner, mostBytes, 1);
    }

    void check(String name, FileStatus status) throws UnusableFileException {
        if (!status.isRegular()) {
            throw new UnusableFileException(name, "is not a regular file");
        }
        if (owner != ANYBODY && status.uid() != owner) {
            throw new UnusableFileException(name, "belongs to user " + status.uid() + ", not to " + owner);
        }
        if (status.bytes() > mostBytes) {
            throw new UnusableFileException(name, "is too long (" + status.bytes() + " bytes)");
        }
        if (status.links() > mostNames) {
            throw new UnusableFileException(name, "has " + status.links() + " names");
        }
    }
}
