/// What every command writes with: text that is safe for a terminal, aligned tables, JSON, progress, exit statuses.
///
/// Must not know: tenants, GPUs, or any command.
package sluice.cli.output;
