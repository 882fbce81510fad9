/// The board file of a GPU: open it, read which tenants take turns on it, put a tenant on it, write plans.
///
/// Must not know: how long a turn should be; the planner decides that.
package sluice.region.boards;
