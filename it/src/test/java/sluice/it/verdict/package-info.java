/// Judges the build. Runs after all other tests and reads what they have noted.
package sluice.it.verdict;
