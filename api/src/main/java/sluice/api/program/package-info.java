/// The agent's own code as a service, for programs that are built without it.
///
/// Must not know: which module provides the service, or how a command line shows it.
package sluice.api.program;
