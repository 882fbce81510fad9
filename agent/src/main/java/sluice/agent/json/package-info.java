/// Tenants as JSON, in both directions: what the agent and `sluice ps --json` write, and what a client reads.
///
/// [JsonBytes][sluice.agent.json.JsonBytes] and [JsonTree][sluice.agent.json.JsonTree] write and read any JSON.
/// Must not know: HTTP, sockets, or where a tenant was found.
package sluice.agent.json;
