/// The agent as a whole.
///
/// [AgentService] puts the packages below together: settings, machine, the parts that it finds, and the HTTP server.
/// No package below knows this one. Nothing here knows how a part does its work.
package sluice.agent;
