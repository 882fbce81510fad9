/// Looks at the boards and regions of a user's tenants, again and again, and writes plans.
///
/// Owns: when to look, what of it the planner is told, and where a plan is written. Must not know: what is fair (the planner
/// does), how a turn is handed over (the libraries do), or how anything is shown. Nobody waits for it: without it, or
/// when it hangs, the libraries go on with the plan that is there.
module sluice.agent {
    requires transitive sluice.region;
    requires sluice.planner;

    exports sluice.agent;
}
