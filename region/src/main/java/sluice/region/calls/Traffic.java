package sluice.region.calls;

import sluice.region.layout.TrafficView;

/// Bytes that a tenant's calls copied, by where from and where to.
///
/// @param otherBytes by calls that do not say from where to where
public record Traffic(long toGpuBytes, long fromGpuBytes, long onGpuBytes, long betweenGpusBytes, long hostBytes, long otherBytes) {
    static final Traffic NONE = new Traffic(0, 0, 0, 0, 0, 0);

    Traffic plus(TrafficView more) {
        return new Traffic(toGpuBytes + more.toGpuBytes(), fromGpuBytes + more.fromGpuBytes(), onGpuBytes + more.onGpuBytes(),
                betweenGpusBytes + more.betweenGpusBytes(), hostBytes + more.hostBytes(), otherBytes + more.otherBytes());
    }

    public long bytes() {
        return toGpuBytes + fromGpuBytes + onGpuBytes + betweenGpusBytes + hostBytes + otherBytes;
    }
}
