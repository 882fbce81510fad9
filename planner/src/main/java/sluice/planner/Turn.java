package sluice.planner;

/// What a plan says of one tenant.
///
/// @param lengthNanos how long its turns are
/// @param lagNanos    GPU time that it should have had and did not have; less than 0: had and should not have
/// @param seen        what the plan was made from
public record Turn(long lengthNanos, double lagNanos, TenantDemand seen) {}
