/// The agent's own code as a service, for programs that are built without it.
///
/// Must not know: which module provides the service, or what a command line shows of it.
package sluice.api.program;
