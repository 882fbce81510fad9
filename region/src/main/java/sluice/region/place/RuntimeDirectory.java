package sluice.region.place;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import sluice.linux.Folder;

/// The folder that holds the regions of one user's tenants.
///
/// It is `$SLUICE_RUNTIME_DIR`, else `/dev/shm/sluice-<uid>`, else `/tmp/sluice-<uid>`. Anybody can make a folder in the
/// last two places, so it must be a real folder, owned by the user, with mode 0700.
public record RuntimeDirectory(Path path) {
    /// Environment variable that names the folder.
    public static final String VARIABLE = "SLUICE_RUNTIME_DIR";

    private static final String PREFIX = "sluice-";
    private static final int MOST_FILES = 4096;
    /// In a place that all users can write, such as /tmp, many names do not belong to Sluice.
    private static final int MOST_IN_A_PLACE = 1 << 18;

    /// The folder for new tenants; made if it does not exist.
    public static RuntimeDirectory find(String chosen, int uid) {
        if (chosen != null && !chosen.isEmpty()) {
            Path path = Path.of(chosen).toAbsolutePath();
            return accept(path, prepare(path, uid));
        }
        StringBuilder problems = new StringBuilder();
        for (Path path : defaults(uid)) {
            String problem = prepare(path, uid);
            if (problem == null) {
                return new RuntimeDirectory(path);
            }
            problems.append(problems.isEmpty() ? "" : ", ").append(path).append(' ').append(problem);
        }
        throw new SluiceException("no usable runtime directory: " + problems
                + "; set " + VARIABLE + " to a directory of your own with mode 700");
    }

    public static RuntimeDirectory find(Map<String, String> environment) {
        return find(environment.get(VARIABLE), ThisProcess.current().uid());
    }

    private static RuntimeDirectory accept(Path path, String problem) {
        if (problem != null) {
            throw new SluiceException("runtime directory " + path + " " + problem
                    + "; set " + VARIABLE + " to a directory of your own with mode 700");
        }
        return new RuntimeDirectory(path);
    }

    /// All folders that hold tenants of this user; makes none. A chosen folder must pass the checks. Usual places that fail them are left
    /// out.
    public static List<RuntimeDirectory> existing(Map<String, String> environment) {
        int uid = ThisProcess.current().uid();
        String chosen = environment.get(VARIABLE);
        if (chosen != null && !chosen.isEmpty()) {
            Path path = Path.of(chosen).toAbsolutePath();
            return Files.exists(path, LinkOption.NOFOLLOW_LINKS) ? List.of(accept(path, check(path, uid))) : List.of();
        }
        List<RuntimeDirectory> found = new ArrayList<>();
        for (Path path : defaults(uid)) {
            if (Files.exists(path, LinkOption.NOFOLLOW_LINKS) && check(path, uid) == null) {
                found.add(new RuntimeDirectory(path));
            }
        }
        return found;
    }

    /// The folders of all users in some places, for a process that may read them. Only folders that belong to their users are listed.
    public static List<RuntimeDirectory> ofAllUsers(List<Path> places) {
        List<RuntimeDirectory> found = new ArrayList<>();
        for (Path place : places) {
            for (Path path : inPlace(place)) {
                OptionalInt uid = uid(path.getFileName().toString().substring(PREFIX.length()));
                if (uid.isPresent() && check(path, uid.getAsInt()) == null) {
                    found.add(new RuntimeDirectory(path));
                }
            }
        }
        return found;
    }

    private static List<Path> inPlace(Path place) {
        try (Folder folder = Folder.open(place)) {
            return folder.names(name -> name.startsWith(PREFIX), MOST_IN_A_PLACE, MOST_IN_A_PLACE).stream().map(place::resolve).toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    /// A user's number, up to 2^32 - 2, as the kernel writes it: without zeros before it.
    private static OptionalInt uid(String text) {
        try {
            int uid = Integer.parseUnsignedInt(text);
            return uid != -1 && Integer.toUnsignedString(uid).equals(text) ? OptionalInt.of(uid) : OptionalInt.empty();
        } catch (NumberFormatException e) {
            return OptionalInt.empty();
        }
    }

    /// The user whose tenants it holds; -1 when it is gone.
    public long owner() {
        try {
            return Integer.toUnsignedLong((Integer) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS));
        } catch (IOException e) {
            return -1;
        }
    }

    /// Where the region of a tenant lies.
    public Path region(String tenant) {
        return path.resolve(tenant + ".region");
    }

    /// The files whose names begin and end so, up to 4,096; none if the folder is gone or cannot be read. Without a bound a user could keep
    /// root's agent busy.
    public List<Path> files(String prefix, String suffix) {
        try (Folder folder = Folder.open(path)) {
            return files(folder, prefix, suffix);
        } catch (IOException e) {
            return List.of();
        }
    }

    public List<Path> files(Folder folder, String prefix, String suffix) {
        return folder.names(name -> name.startsWith(prefix) && name.endsWith(suffix), MOST_FILES, Folder.MOST_ENTRIES).stream().map(path::resolve).toList();
    }

    private static List<Path> defaults(int uid) {
        return List.of(Path.of("/dev/shm/" + PREFIX + Integer.toUnsignedString(uid)), Path.of("/tmp/" + PREFIX + Integer.toUnsignedString(uid)));
    }

    private static String prepare(Path path, int uid) {
        try {
            return check(path, uid, Files.readAttributes(path, "unix:uid,mode,isDirectory", LinkOption.NOFOLLOW_LINKS));
        } catch (NoSuchFileException e) {
            return make(path, uid);
        } catch (IOException e) {
            return SluiceException.reason(e);
        }
    }

    private static String make(Path path, int uid) {
        try {
            Files.createDirectory(path, PosixFilePermissions.asFileAttribute(EnumSet.of(PosixFilePermission.OWNER_READ,
                    PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE)));
            return null;
        } catch (FileAlreadyExistsException e) {
            return check(path, uid);
        } catch (IOException e) {
            return "cannot be made (" + SluiceException.reason(e) + ")";
        }
    }

    private static String check(Path path, int uid) {
        try {
            return check(path, uid, Files.readAttributes(path, "unix:uid,mode,isDirectory", LinkOption.NOFOLLOW_LINKS));
        } catch (IOException e) {
            return SluiceException.reason(e);
        }
    }

    private static String check(Path path, int uid, Map<String, Object> attributes) {
        int mode = (Integer) attributes.get("mode");
        if (!(Boolean) attributes.get("isDirectory")) {
            return "is not a directory";
        }
        if ((Integer) attributes.get("uid") != uid) {
            return "belongs to another user";
        }
        if ((mode & 0077) != 0) {
            return "is open to other users (mode " + Integer.toOctalString(mode & 0777) + ")";
        }
        return Files.isWritable(path) ? null : "is not writable";
    }
}
