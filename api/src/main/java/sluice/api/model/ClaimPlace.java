package sluice.api.model;

/// Where in a cluster a tenant is that a claim made.
///
/// @param pod       the first that uses the claim; empty if none is known
/// @param container empty if several containers of the pod use it
public record ClaimPlace(String namespace, String pod, String container, String claim) {
    /// As it begins the command of such a tenant.
    public String user() {
        return namespace + "/" + pod + (container.isEmpty() ? "" : "/" + container);
    }
}
