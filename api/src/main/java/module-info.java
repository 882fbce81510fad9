/// Code that the agent and its clients share: the model, its JSON in both directions, and the client.
///
/// Owns: the format of every JSON document that both sides know, the paths of the agent's sockets, changes of limits, pauses. It also finds
/// the agent's own code as a service. Must not know: HTTP servers, metrics, plans, the command line, or CUDA.
module sluice.api {
    requires transitive sluice.region;
    requires transitive tools.jackson.core;

    exports sluice.api.client;
    exports sluice.api.json;
    exports sluice.api.limits;
    exports sluice.api.model;
    exports sluice.api.pause;
    exports sluice.api.program;

    uses sluice.api.program.AgentProgram;
}
