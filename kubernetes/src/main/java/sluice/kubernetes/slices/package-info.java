/// The node's GPUs as the scheduler sees them.
///
/// Must not know: claims.
package sluice.kubernetes.slices;
