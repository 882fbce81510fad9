/// The `sluice` command.
///
/// Owns: options, output for people and scripts (tables, JSON, error lines), exit statuses, and becoming the program
/// that is to run. Must not know: how a quota is enforced or checked; it shows results of other modules. It does not require the agent's
/// module: `sluice agent` and `sluice audit` find that as a service, so no other command loads a class of it, of Netty or of Prometheus.
module sluice.cli {
    requires info.picocli;
    requires jdk.unsupported; // JLine asks for signals there
    requires org.jline.terminal;
    requires org.jline.terminal.ffm;
    requires sluice.api;
    requires sluice.cuda;
    requires sluice.proof;
    requires sluice.region;
    requires sluice.trace;
    requires tools.jackson.core;

    opens sluice.cli to info.picocli;
    opens sluice.cli.agent to info.picocli;
    opens sluice.cli.doctor to info.picocli;
    opens sluice.cli.output to info.picocli;
    opens sluice.cli.proof to info.picocli;
    opens sluice.cli.run to info.picocli;
    opens sluice.cli.tenants to info.picocli;
    opens sluice.cli.top to info.picocli;
    opens sluice.cli.trace to info.picocli;
}
