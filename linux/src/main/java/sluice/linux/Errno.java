package sluice.linux;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/// Numbers of errors, and the exceptions that Java has for them.
public final class Errno {
    public static final int ENOENT = 2;
    public static final int E2BIG = 7;
    public static final int ENOEXEC = 8;
    public static final int EAGAIN = 11;
    public static final int EACCES = 13;
    static final int EPERM = 1;
    static final int EEXIST = 17;
    static final int ENOTDIR = 20;
    static final int ENOSPC = 28;
    static final int EMFILE = 24;
    static final int ELOOP = 40;
    /// Larger than every number of an error.
    static final int END = 4096;

    private Errno() {}

    static IOException exception(String what, int errno) {
        return switch (errno) {
            case ENOENT -> new NoSuchFileException(what);
            case EEXIST -> new FileAlreadyExistsException(what);
            case EACCES, EPERM -> new AccessDeniedException(what);
            case ELOOP -> new FileSystemException(what, null, "is a symbolic link");
            case ENOTDIR -> new FileSystemException(what, null, "is not a directory");
            case ENOSPC -> new FileSystemException(what, null, "no space left");
            case EMFILE -> new FileSystemException(what, null, "too many open files");
            default -> new FileSystemException(what, null, "error " + errno);
        };
    }
}
