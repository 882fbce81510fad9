package sluice.region.place;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/// A failure with a message for the user: one line that says what failed, which value, and what to do next.
public class SluiceException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public SluiceException(String message) {
        super(message);
    }

    public SluiceException(String message, Throwable cause) {
        super(message, cause);
    }

    /// The system's word for a failure, without the path that Java puts before it or instead of it.
    public static String reason(IOException e) {
        return switch (e) {
            case NoSuchFileException _ -> "no such file or directory";
            case AccessDeniedException _ -> "permission denied";
            case FileAlreadyExistsException _ -> "it exists already";
            case NotDirectoryException _ -> "not a directory";
            case FileSystemException failure when failure.getReason() != null -> failure.getReason();
            default -> String.valueOf(e.getMessage());
        };
    }
}
