/// The entry point: it hands an argument list to a command, and prints one line when a command fails.
///
/// Holds: `Main`, the list of all commands, the commands about the command line itself, the training of the AOT cache. No other
/// package may know it.
package sluice.cli;
