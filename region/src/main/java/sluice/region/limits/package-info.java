/// Limits: the table of all that there are ([Limit]), what a tenant has ([Limits]), what a source gives it ([GivenLimits]), and how
/// sizes, parts of time and lengths of turns are written.
///
/// The library reads the same variables in `native/src/tenant/switches/options.c`. Must not know: files, processes, or which tenant has a limit.
package sluice.region.limits;
