/// The planner. A plan says how long the turns of each tenant are. [Plan][sluice.planner.Plan] makes the next one from the last one and
/// from what each tenant had since.
///
/// Must not know: files, clocks, boards, or any other module.
package sluice.planner;
