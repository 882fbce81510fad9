package sluice.api.pause;

import sluice.region.limits.Size;
import sluice.region.pause.Depth;
import sluice.region.pause.ProcessPause.Host;

/// What a pause left on the GPU, as the end of a sentence.
public final class RestText {
    private RestText() {}

    public static String of(Host host, Depth depth) {
        return depth == Depth.VACATE ? "nothing stays on the GPU" : Size.format(host.stayingBytes()) + " stay on the GPU";
    }
}
