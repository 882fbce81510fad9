package sluice.region;

/// One line of the region's error log.
public record TenantError(String text, long count, long firstNanos, long lastNanos, long pid) {}
