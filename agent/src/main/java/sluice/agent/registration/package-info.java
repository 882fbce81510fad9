/// Regions for processes that share no folder with the agent: the line protocol, the policy, and the files handed out.
///
/// Must not know: Alnair's protocol, which is a part of its own on the same channel; the audit; metrics.
package sluice.agent.registration;
