/// Tools that every command uses: --help, text that is safe for a terminal, aligned tables, JSON, progress, exit statuses.
///
/// Must not know: tenants, GPUs, or any command.
package sluice.cli.output;
