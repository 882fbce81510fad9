/// Limits as people write them: sizes, parts of GPU time, weights, priorities, lengths of turns, and changes of them.
///
/// Must not know: files, processes, or which tenant has a limit.
package sluice.region.limits;
