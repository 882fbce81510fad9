/// The region file of a tenant: make it, open it, read a tenant from it, change its limits, delete it when the tenant has ended.
///
/// Must not know: boards, or the counters of calls; both are read by packages above this one.
package sluice.region;
