package sluice.cli;

import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import sluice.region.RegionLayout;

@Command(name = "version", header = "Shows the version.")
final class VersionCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Shows this help.")
    private boolean help;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        out.println("sluice " + version());
        out.println("region layout " + RegionLayout.LAYOUT);
        out.println("Java " + Runtime.version());
    }

    static String version() {
        return VersionCommand.class.getModule().getDescriptor() == null
                ? "from classes"
                : VersionCommand.class.getModule().getDescriptor().rawVersion().orElse("from classes");
    }
}
