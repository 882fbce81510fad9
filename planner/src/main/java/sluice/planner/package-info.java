/// The planner: [Plan][sluice.planner.Plan] makes the next plan from the last one and from what each tenant had since.
///
/// Must not know: files, clocks, boards, or any other module.
package sluice.planner;
