/// Limits: their table ([Limit]), the limits of a tenant ([Limits]), and those that a source gives it ([GivenLimits]). Also how people write
/// sizes, parts of time and lengths of turns.
///
/// The library reads the same variables in `native/src/tenant/switches/options.c`. Must not know: files, processes, or which tenant has a limit.
package sluice.region.limits;
