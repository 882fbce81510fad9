package sluice.kubernetes.cluster;

import sluice.region.place.SluiceException;

/// Paths of the API server's objects. Names come from kubelet and from other objects, so each is checked.
public final class Paths {
    public static final String SLICES = "/apis/resource.k8s.io/v1/resourceslices";
    private static final String RESOURCES = "/apis/resource.k8s.io/v1/namespaces/";
    private static final String CORE = "/api/v1/namespaces/";
    private static final String EVENTS = "/apis/events.k8s.io/v1/namespaces/";

    private Paths() {}

    public static String node(String name) {
        return "/api/v1/nodes/" + checked(name);
    }

    public static String slice(String name) {
        return SLICES + "/" + checked(name);
    }

    public static String claim(String namespace, String name) {
        return RESOURCES + checked(namespace) + "/resourceclaims/" + checked(name);
    }

    public static String pod(String namespace, String name) {
        return CORE + checked(namespace) + "/pods/" + checked(name);
    }

    public static String events(String namespace) {
        return EVENTS + checked(namespace) + "/events";
    }

    private static String checked(String name) {
        if (!name.matches("[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")) {
            throw new SluiceException("'" + name + "' is no name of Kubernetes");
        }
        return name;
    }
}
