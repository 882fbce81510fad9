package sluice.region;

/// The memory and time of a tenant on one GPU. `limitBytes` is 0 for no limit.
///
/// @param entry     position in the region's table of GPUs
/// @param index     the GPU's number in nvidia-smi
/// @param usedBytes sum over the processes that live
/// @param uses      the same, by kind of use
/// @param time      its share of the GPU's time
public record TenantGpu(
        int entry,
        int index,
        String uuid,
        String name,
        long granularityBytes,
        long totalBytes,
        long usedBytes,
        MemoryUses uses,
        long limitBytes,
        long peakBytes,
        long refusedCalls,
        long lastRefusedBytes,
        GpuTime time) {

    public static String uuid(byte[] bytes) {
        StringBuilder text = new StringBuilder("GPU-");
        for (int i = 0; i < bytes.length; i++) {
            text.append(i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "");
            text.append(Character.forDigit(bytes[i] >> 4 & 15, 16)).append(Character.forDigit(bytes[i] & 15, 16));
        }
        return text.toString();
    }
}
