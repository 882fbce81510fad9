/// The model as JSON, in both directions: what the agent and `sluice ps --json` write, and what a client reads.
///
/// Each record has one description, which [JsonProperties][sluice.api.json.JsonProperties] runs in either direction.
/// [JsonBytes][sluice.api.json.JsonBytes] and [JsonTree][sluice.api.json.JsonTree] write and read any JSON.
/// Must not know: HTTP, sockets, or where a tenant was found.
package sluice.api.json;
