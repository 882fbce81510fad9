/// The planner: [Plan][sluice.planner.Plan] makes the next plan, that is how long the turns of each tenant are, from the last one and from what each tenant had since.
///
/// Must not know: files, clocks, boards, or any other module.
package sluice.planner;
