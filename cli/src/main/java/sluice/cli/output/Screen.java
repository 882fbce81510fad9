package sluice.cli.output;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/// The abilities of standard output.
///
/// @param terminal whether it is a terminal
/// @param coloured whether the user wants colours
public record Screen(boolean terminal, boolean coloured) {
    public static Screen standard() {
        return of(isTerminal(1), System.getenv());
    }

    /// Whether standard error is a terminal, for progress.
    static boolean errorIsTerminal() {
        return isTerminal(2);
    }

    /// Whether standard input is a terminal, for keys.
    public static boolean inputIsTerminal() {
        return isTerminal(0);
    }

    static Screen of(boolean terminal, Map<String, String> environment) {
        String no = environment.getOrDefault("NO_COLOR", "");
        return new Screen(terminal, terminal && no.isEmpty() && !"dumb".equals(environment.get("TERM")));
    }

    private static boolean isTerminal(int descriptor) {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException e) {
            return false;
        }
    }

    public String bold(String text) {
        return paint("1", text);
    }

    public String green(String text) {
        return paint("32", text);
    }

    public String yellow(String text) {
        return paint("33", text);
    }

    public String red(String text) {
        return paint("31", text);
    }

    private String paint(String code, String text) {
        return coloured ? "\033[" + code + "m" + text + "\033[0m" : text;
    }
}
