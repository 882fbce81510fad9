package sluice.linux;

import java.nio.file.FileSystemException;

/// The file of this name breaks a rule.
public final class UnusableFileException extends FileSystemException {
    private static final long serialVersionUID = 1L;

    UnusableFileException(String file, String reason) {
        super(file, null, reason);
    }

    /// A user can cause thousands of these a second; walking the stack for each would take most of the time.
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
