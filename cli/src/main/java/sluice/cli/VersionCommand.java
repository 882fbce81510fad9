package sluice.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.Command;
import sluice.cli.output.AnyCommand;
import sluice.region.layout.RegionLayout;

@Command(name = "version", header = "Shows the version.")
final class VersionCommand extends AnyCommand implements Runnable {
    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        out.println("sluice " + version());
        out.println("region layout " + RegionLayout.LAYOUT);
        out.println("Java " + Runtime.version());
    }

    static String version() {
        try (InputStream version = VersionCommand.class.getResourceAsStream("version")) {
            return new String(version.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
