/// Room for tenants whose driver state is stored: what they need, who was promised what, and the word to a tenant that a look has found room.
///
/// Must not know: who asks for a resume, or how a tool learns how much of a GPU is free.
package sluice.region.restore;
