/// One process for a machine: it reads boards and regions repeatedly, plans turns, and answers clients.
///
/// Owns: when to look, what the planner gets, where a plan is written; the snapshot of the machine, its history, and the HTTP API in front
/// of it. Must not know: what is fair (the planner does), how a turn is handed over (the libraries do), or how a terminal shows any of it.
/// No process waits for it: without it, or if it hangs, the libraries go on with the last plan.
module sluice.agent {
    requires sluice.api;
    requires sluice.cuda;
    requires sluice.planner;
    requires sluice.prometheus;
    requires io.netty.buffer;
    requires io.netty.codec;
    requires io.netty.codec.http;
    requires io.netty.common;
    requires io.netty.handler;
    requires io.netty.transport;
    requires io.netty.transport.classes.epoll;
    requires io.netty.transport.epoll.linux.x86_64;
    requires io.netty.transport.unix.common;

    uses sluice.agent.part.Part;

    provides sluice.api.program.AgentProgram with sluice.agent.ProvidedAgent;
    provides sluice.agent.part.Part with
            sluice.agent.planning.PlanningPart,
            sluice.agent.history.HistoryPart,
            sluice.agent.audit.AuditPart,
            sluice.agent.metrics.Metrics,
            sluice.agent.pause.PausePart,
            sluice.agent.dashboard.Dashboard,
            sluice.agent.registration.RegistrationPart,
            sluice.agent.alnair.AlnairPart;
}
