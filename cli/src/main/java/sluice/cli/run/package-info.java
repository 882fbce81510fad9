/// `sluice run`: its options, the tenant that it makes, the checks before the start, the program that it becomes.
/// [RunCommand][sluice.cli.run.RunCommand] has the order of the steps.
///
/// Every job waits for it. Must not know: tables, other commands, or more of picocli than `RunCommand` needs.
package sluice.cli.run;
