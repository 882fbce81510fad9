/// Who may use a GPU for how long: weights, caps, priorities, demand and measured use go in, lengths of turns come out.
///
/// Owns: what is fair. Must not know: files, clocks, the board, or that there are libraries that carry a plan out. Every
/// plan is a value, made from the one before and from what was seen since.
module sluice.planner {
    exports sluice.planner;
}
