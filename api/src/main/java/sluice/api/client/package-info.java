/// The client's end of the agent's sockets: how `sluice` asks an agent, and how `sluice run` registers a job.
///
/// Must not know: how the agent makes its answers. The client runs in the processes of users, without the agent's rights.
package sluice.api.client;
