package sluice.cli.top.terminal;

/// An event of the terminal.
public sealed interface TopEvent {
    record Pressed(TopKey key) implements TopEvent {}

    /// The size has changed, or another program has drawn: the whole screen must be drawn again.
    record Changed() implements TopEvent {}

    /// A signal asks the program to stop for a while.
    record Suspended() implements TopEvent {}

    /// The terminal is gone, or a signal asks the program to end.
    record Ended() implements TopEvent {}
}
