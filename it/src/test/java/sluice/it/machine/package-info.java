/// What all system tests share: a machine with a simulated GPU, the mark of tests that measure time, and repeated looks at lower bounds.
/// Knows no test.
package sluice.it.machine;
