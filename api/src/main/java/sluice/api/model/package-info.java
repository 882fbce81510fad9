/// What the agent tells and its clients show, beside the tenants of `sluice.region`: findings, places on boards, earlier looks, plans.
///
/// Must not know: JSON, sockets, or which client shows it.
package sluice.api.model;
