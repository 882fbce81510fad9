/// HTTP on a Unix socket and on a port of the loopback: connections, limits per client, access, routes and answers.
///
/// The routes themselves come from other packages, such as `machine` (`MachineRoutes`). Must not know: tenants, GPUs, settings, or what a route answers.
package sluice.agent.http;
