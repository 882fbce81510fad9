/// How long each tenant may use a GPU. Weights, caps, priorities, demand and measured use go in; lengths of turns come out.
///
/// Owns: what is fair. Must not know: files, clocks, the board, or that libraries carry a plan out. Every plan is a value, computed from
/// the previous plan and from what was seen since.
module sluice.planner {
    exports sluice.planner;
}
