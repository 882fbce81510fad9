/// The commands that show and change tenants: `ps`, `inspect`, `stat`, `set`; and the tenants that this user may see.
///
/// Must not know: the screen of `top`, traces, or checks.
package sluice.cli.tenants;
