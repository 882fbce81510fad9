package sluice.cli.top.terminal;

/// What the terminal has to say.
public sealed interface TopEvent {
    record Pressed(TopKey key) implements TopEvent {}

    /// Its size is another one, or it shows something else: the whole screen is to be drawn anew.
    record Changed() implements TopEvent {}

    /// A signal asks the program to stop for a while.
    record Suspended() implements TopEvent {}

    /// The terminal is gone, or a signal asks the program to end.
    record Ended() implements TopEvent {}
}
