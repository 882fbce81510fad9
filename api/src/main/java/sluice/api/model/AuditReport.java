package sluice.api.model;

import java.util.List;

/// The report of an audit.
///
/// @param audited whether NVML is there
/// @param gpus    all GPUs that NVML lists
public record AuditReport(boolean audited, List<Gpu> gpus, List<AuditFinding> findings) {

    /// A GPU and its findings.
    public record Gpu(int index, String uuid, int temperatureCelsius, List<String> health) {}
}
