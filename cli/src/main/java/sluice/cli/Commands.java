package sluice.cli;

import java.io.PrintWriter;
import java.nio.file.InvalidPathException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.ParameterException;
import sluice.cli.agent.AgentCommand;
import sluice.cli.agent.AuditCommand;
import sluice.cli.agent.MonitorCommand;
import sluice.cli.doctor.DoctorCommand;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.ExitStatus;
import sluice.cli.output.Screen;
import sluice.cli.proof.BenchCommand;
import sluice.cli.proof.DemoCommand;
import sluice.cli.proof.SoakCommand;
import sluice.cli.proof.VerifyCommand;
import sluice.cli.run.LimitOptions;
import sluice.cli.run.RunCommand;
import sluice.cli.tenants.InspectCommand;
import sluice.cli.tenants.PauseCommand;
import sluice.cli.tenants.PsCommand;
import sluice.cli.tenants.ResumeCommand;
import sluice.cli.tenants.SetCommand;
import sluice.cli.tenants.StatCommand;
import sluice.cli.top.TopCommand;
import sluice.cli.trace.ReportCommand;
import sluice.cli.trace.TraceCommand;
import sluice.region.place.SluiceException;

/// All commands, and the handling of their failures: one line on standard error, and a documented status.
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
        })
final class Commands extends AnyCommand implements Runnable {
    private static final List<Class<?>> ALL = List.of(
            RunCommand.class,
            PsCommand.class,
            TopCommand.class,
            InspectCommand.class,
            StatCommand.class,
            SetCommand.class,
            PauseCommand.class,
            ResumeCommand.class,
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
            HelpCommand.class);
    private static final Set<String> TELL_OF_ALL = Set.of("help", "completion");

    @CommandLine.Option(names = "--version", hidden = true, description = "Shows the version.")
    private boolean version;

    static int execute(String[] args) {
        return line(new PrintWriter(System.out, true), new PrintWriter(System.err, true), Screen.standard(), args).execute(args);
    }

    /// @param args the arguments that will be executed
    static CommandLine line(PrintWriter out, PrintWriter err, Screen screen, String... args) {
        CommandLine line = new CommandLine(new Commands());
        wanted(args).forEach(line::addSubcommand);
        OptionTypes.teach(line);
        line.setOut(out)
                .setErr(err)
                .setColorScheme(CommandLine.Help.defaultColorScheme(screen.coloured() ? Ansi.ON : Ansi.OFF))
                .setUsageHelpWidth(110)
                .setParameterExceptionHandler((e, words) -> usageError(e))
                .setExecutionExceptionHandler((e, command, result) -> failure(e, command));
        Map<String, CommandLine> commands = line.getSubcommands();
        if (commands.containsKey("run")) {
            commands.get("run").setStopAtPositional(true);
            LimitOptions.addForRun(commands.get("run").getCommandSpec());
        }
        if (commands.containsKey("set")) {
            LimitOptions.addForSet(commands.get("set").getCommandSpec());
        }
        if (commands.containsKey("verify")) {
            VerifyCommand.listGroups(commands.get("verify").getCommandSpec());
        }
        return line;
    }

    /// Only the requested command, because describing all commands takes most of the time of a start.
    private static List<Class<?>> wanted(String[] args) {
        if (args.length == 0 || TELL_OF_ALL.contains(args[0])) {
            return ALL;
        }
        return ALL.stream().filter(type -> type.getAnnotation(Command.class).name().equals(args[0])).findFirst()
                .<List<Class<?>>>map(List::of).orElse(ALL);
    }

    /// `sluice` alone lists the commands.
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

    private static String helpOn(CommandLine command) {
        return command.getParent() == null ? "sluice help" : helpOn(command.getParent()) + " " + command.getCommandName();
    }

    private static int failure(Exception e, CommandLine command) throws Exception {
        if (!(e instanceof SluiceException || e instanceof InvalidPathException)) {
            throw e;
        }
        command.getErr().println("sluice: " + ErrorLine.of((RuntimeException) e));
        return command.getCommandName().equals("run") ? ExitStatus.SLUICE_FAILED : ExitStatus.CHECK_FAILED;
    }
}
