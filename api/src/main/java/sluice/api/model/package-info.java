/// The agent's answers that clients show, beside the tenants of `sluice.region`: findings, entries on boards, earlier looks, plans.
///
/// Must not know: JSON, sockets, or which client shows it.
package sluice.api.model;
