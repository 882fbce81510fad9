/// Recorded calls, counted calls, and what the report says about them.
package sluice.it.trace;
