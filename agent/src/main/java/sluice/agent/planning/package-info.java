/// Planning of turns: reads boards and regions, asks the planner, and writes the plan to the boards.
///
/// Must not know: what is fair (the module `sluice.planner` does), HTTP, or any other part of the agent.
package sluice.agent.planning;
