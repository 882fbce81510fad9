package sluice.region.layout;

/// The version of Sluice, as the build knows it.
public final class SluiceVersion {
    public static final String TEXT = "unknown";

    private SluiceVersion() {}
}
