/// The probe: a small CUDA program under remote control. It reads commands from standard input and answers with facts.
///
/// It runs in a process of its own, with or without the library. Must not know: tenants, checks, benches, or Sluice.
package sluice.proof.probe;
