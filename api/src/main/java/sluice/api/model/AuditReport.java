package sluice.api.model;

import java.util.List;

/// What an audit found.
///
/// @param audited whether there is an NVML to ask
/// @param gpus    all that NVML knows
public record AuditReport(boolean audited, List<Gpu> gpus, List<AuditFinding> findings) {

    /// A GPU and what is wrong with it.
    public record Gpu(int index, String uuid, int temperatureCelsius, List<String> health) {}
}
