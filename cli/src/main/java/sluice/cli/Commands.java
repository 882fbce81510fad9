package sluice.cli;

import java.io.PrintWriter;
import java.nio.file.InvalidPathException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import sluice.region.SluiceException;

/// All commands, and the one way in which each of them fails: one line on standard error, and a documented status.
@Command(
        name = "sluice",
        header = "Lets many jobs share one GPU, each held to its memory quota and its share of GPU time.",
        synopsisSubcommandLabel = "COMMAND",
        customSynopsis = "sluice COMMAND [OPTIONS] ...",
        description = {"", "  sluice run --memory 4g --compute 25%% -- python train.py", ""},
        commandListHeading = "Commands:%n",
        footer = {
            "",
            "Exit status: 0 fine, 1 a check or command failed, 2 usage, 125 Sluice failed before the program started,",
            "126 the program cannot be started, 127 it was not found, otherwise the program's own.",
            "",
            "'sluice help COMMAND' tells more about a command."
        },
        subcommands = {
            RunCommand.class,
            PsCommand.class,
            TopCommand.class,
            InspectCommand.class,
            StatCommand.class,
            SetCommand.class,
            MonitorCommand.class,
            TraceCommand.class,
            ReportCommand.class,
            AgentCommand.class,
            AuditCommand.class,
            DoctorCommand.class,
            VerifyCommand.class,
            BenchCommand.class,
            DemoCommand.class,
            SoakCommand.class,
            CompletionCommand.class,
            VersionCommand.class,
            CommandLine.HelpCommand.class
        })
final class Commands implements Runnable {
    @Spec
    private CommandSpec spec;

    @CommandLine.Option(names = {"-h", "--help"}, usageHelp = true, description = "Shows this help.")
    private boolean help;

    @CommandLine.Option(names = "--version", hidden = true, description = "Shows the version.")
    private boolean version;

    static int execute(String[] args) {
        return line(new PrintWriter(System.out, true), new PrintWriter(System.err, true), Screen.standard()).execute(args);
    }

    static CommandLine line(PrintWriter out, PrintWriter err, Screen screen) {
        CommandLine line = new CommandLine(new Commands())
                .setOut(out)
                .setErr(err)
                .setColorScheme(CommandLine.Help.defaultColorScheme(screen.coloured() ? Ansi.ON : Ansi.OFF))
                .setUsageHelpWidth(110)
                .setParameterExceptionHandler((e, args) -> usageError(e))
                .setExecutionExceptionHandler((e, command, result) -> failure(e, command));
        line.getSubcommands().get("run").setStopAtPositional(true);
        VerifyCommand.listGroups(line.getSubcommands().get("verify").getCommandSpec());
        return line;
    }

    /// `sluice` alone shows what there is.
    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        if (version) {
            out.println("sluice " + VersionCommand.version());
        } else {
            spec.commandLine().usage(out);
        }
    }

    private static int usageError(ParameterException e) {
        CommandLine command = e.getCommandLine();
        command.getErr().println("sluice: " + ErrorLine.usage(e) + " '" + helpOn(command) + "'");
        return ExitStatus.USAGE;
    }

    /// `help` knows the commands of `sluice` only, not those of its commands.
    private static String helpOn(CommandLine command) {
        CommandLine parent = command.getParent();
        return parent == null ? "sluice help"
                : parent.getParent() == null ? "sluice help " + command.getCommandName()
                : "sluice " + parent.getCommandName() + " " + command.getCommandName() + " --help";
    }

    private static int failure(Exception e, CommandLine command) throws Exception {
        if (!(e instanceof SluiceException || e instanceof InvalidPathException)) {
            throw e;
        }
        command.getErr().println("sluice: " + ErrorLine.of((RuntimeException) e));
        return command.getCommandName().equals("run") ? ExitStatus.SLUICE_FAILED : ExitStatus.CHECK_FAILED;
    }
}
