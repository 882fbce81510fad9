/// The counters of a tenant's CUDA calls: how many, how many failed, how long, how many bytes.
///
/// Must not know: limits and boards.
package sluice.region.calls;
