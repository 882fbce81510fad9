/// This process and the programs that it starts: raw arguments and variables, exec, system calls, Ctrl-C, the place of the driver.
///
/// Must not know: picocli, any command, or how a result is shown.
package sluice.cli.process;
