/// `sluice top`: looks, the choices of the user, and the lines made from both.
///
/// Only `TopLoop` and `TopPage` touch the terminal. Everything else makes values from values.
package sluice.cli.top;
