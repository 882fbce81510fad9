/// What the agent asks Linux about processes and files: descriptors, pidfds, namespaces, cgroups, containers.
///
/// Must not know: any other package of the agent.
package sluice.agent.os;
