/// The socket that replaces Alnair's registration server.
///
/// It uses the line channel of `registration`. Must not know: regions, policies or limits.
package sluice.agent.alnair;
