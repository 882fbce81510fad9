/// The change of a tenant's limits: as the body of a request, and in the region of a tenant that runs.
///
/// Must not know: which user may change limits, or how the request came.
package sluice.api.limits;
