/// The page for browsers, as files that are served unchanged. The files lie in the resources, in this package.
///
/// Must not know: the machine. The page asks the API.
package sluice.agent.dashboard;
