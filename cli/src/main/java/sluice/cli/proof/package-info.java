/// The commands that prove something to the user: `verify`, `bench`, `demo`, `soak`; and which driver they run on.
///
/// Must not know: how anything is checked or measured; `sluice.proof` does.
package sluice.cli.proof;
