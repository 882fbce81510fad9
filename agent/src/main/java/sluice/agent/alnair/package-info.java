/// The socket that takes the place of Alnair's registration server.
///
/// It uses the line channel of `registration`. Must not know: regions, policies or limits.
package sluice.agent.alnair;
