/// `sluice top`: what was seen, what the person chose, and the lines that both give.
///
/// Only `TopLoop` and `TopPage` touch the terminal. Everything else makes values from values.
package sluice.cli.top;
