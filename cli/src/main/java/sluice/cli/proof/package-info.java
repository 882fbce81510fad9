/// The commands that show Sluice's promises to the user: `verify`, `bench`, `demo`, `soak`; and the choice of their driver.
///
/// Must not know: how anything is checked or measured; `sluice.proof` does.
package sluice.cli.proof;
