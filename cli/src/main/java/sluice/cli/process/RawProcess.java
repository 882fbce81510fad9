package sluice.cli.process;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import sluice.region.place.SluiceException;

/// The arguments and the environment of this process as bytes. Java's strings of them are decoded by the locale's encoding, and bytes that
/// it cannot decode are lost.
public final class RawProcess {
    private RawProcess() {}

    /// The bytes of some arguments of the command line.
    public static List<byte[]> arguments(List<String> decoded) {
        List<byte[]> arguments = new ArrayList<>();
        for (String argument : decoded) {
            byte[] ascii = ascii(argument);
            arguments.add(ascii != null ? ascii : original(argument));
        }
        return arguments;
    }

    /// Text that is all ASCII, in which no byte is lost; null for other text.
    private static byte[] ascii(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        for (byte b : bytes) {
            if (b < 0) {
                return null;
            }
        }
        return bytes;
    }

    private static byte[] original(String decoded) {
        Charset locale = Charset.forName(System.getProperty("sun.jnu.encoding"));
        for (byte[] argument : read("/proc/self/cmdline")) {
            if (new String(argument, locale).equals(decoded)) {
                return argument;
            }
        }
        return decoded.getBytes(StandardCharsets.UTF_8);
    }

    /// The variables, each as `NAME=value`.
    public static List<byte[]> environment() {
        return read("/proc/self/environ");
    }

    private static List<byte[]> read(String file) {
        try {
            return split(Files.readAllBytes(Path.of(file)));
        } catch (IOException e) {
            throw new SluiceException("cannot read " + file + "; mount /proc", e);
        }
    }

    static List<byte[]> split(byte[] strings) {
        List<byte[]> parts = new ArrayList<>();
        int from = 0;
        for (int at = 0; at < strings.length; at++) {
            if (strings[at] == 0) {
                parts.add(Arrays.copyOfRange(strings, from, at));
                from = at + 1;
            }
        }
        return parts;
    }

    public static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
