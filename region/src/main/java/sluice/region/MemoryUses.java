package sluice.region;

import java.util.LinkedHashMap;
import java.util.Map;
import sluice.region.layout.AccountView;

/// Memory by use, in bytes. The sum is the charge without the bytes in flight.
///
/// @param overheadBytes memory that the driver took and no call asked for by name
public record MemoryUses(
        long linearBytes,
        long managedBytes,
        long poolBytes,
        long physicalBytes,
        long arrayBytes,
        long graphBytes,
        long contextBytes,
        long overheadBytes) {

    public static final MemoryUses NONE = new MemoryUses(0, 0, 0, 0, 0, 0, 0, 0);

    static MemoryUses of(AccountView account) {
        return new MemoryUses(account.linearBytes(), account.managedBytes(), account.poolBytes(), account.physicalBytes(),
                account.arrayBytes(), account.graphBytes(), account.contextBytes(), account.overheadBytes());
    }

    public MemoryUses plus(MemoryUses other) {
        return new MemoryUses(linearBytes + other.linearBytes, managedBytes + other.managedBytes,
                poolBytes + other.poolBytes, physicalBytes + other.physicalBytes, arrayBytes + other.arrayBytes,
                graphBytes + other.graphBytes, contextBytes + other.contextBytes, overheadBytes + other.overheadBytes);
    }

    /// By their names for people, always in the same order.
    public Map<String, Long> byName() {
        Map<String, Long> uses = new LinkedHashMap<>();
        uses.put("linear", linearBytes);
        uses.put("managed", managedBytes);
        uses.put("pool", poolBytes);
        uses.put("physical", physicalBytes);
        uses.put("array", arrayBytes);
        uses.put("graph", graphBytes);
        uses.put("context", contextBytes);
        uses.put("overhead", overheadBytes);
        return uses;
    }

    public long totalBytes() {
        return linearBytes + managedBytes + poolBytes + physicalBytes + arrayBytes + graphBytes + contextBytes + overheadBytes;
    }
}
