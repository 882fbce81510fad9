package sluice.agent.os;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import sluice.linux.Descriptor;
import sluice.linux.Folder;
import sluice.region.place.SluiceException;

/// Writes a file that all users may read, into a folder that other users may be able to write. It writes the file under a random name, and
/// then renames it over any file with its name. So it follows no link, and readers see the whole new file or the old one.
public final class PublishedFile {
    private static final int READABLE = 0644;

    private PublishedFile() {}

    public static void write(Path folder, String name, String text) {
        try (Folder open = Folder.open(folder)) {
            write(open, name, text);
        } catch (IOException e) {
            throw new SluiceException("the agent cannot open " + folder + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    public static void write(Folder folder, String name, String text) {
        String unfinished = "." + UUID.randomUUID();
        try (Descriptor file = folder.create(unfinished, READABLE); FileChannel content = FileChannel.open(file.path(), StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
            while (bytes.hasRemaining()) {
                content.write(bytes);
            }
            file.setRights(READABLE);
            folder.rename(unfinished, name);
        } catch (IOException e) {
            remove(folder, unfinished);
            throw new SluiceException("the agent cannot write " + name + " in its folder", e);
        }
    }

    private static void remove(Folder folder, String file) {
        try {
            folder.delete(file);
        } catch (IOException e) {
            // It was never made, or the folder is gone.
        }
    }
}
