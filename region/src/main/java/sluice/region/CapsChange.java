package sluice.region;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// New caps on GPU time for some GPUs or for all; the others stay as they are.
public final class CapsChange {
    private static final int KEEP = -1;
    private static final String NO_CAP = "none";

    private final int[] permille = new int[MemoryLimits.GPUS];

    private CapsChange(int forAll) {
        Arrays.fill(permille, forAll);
    }

    /// Reads `25%` or `none`, for every GPU, or `0=25%,1=none`, for the GPUs named.
    public static CapsChange parse(String text) {
        if (text.indexOf('=') < 0) {
            return new CapsChange(cap(text));
        }
        CapsChange change = new CapsChange(KEEP);
        for (String part : text.split(",", -1)) {
            int equals = part.indexOf('=');
            if (equals < 0) {
                throw new SluiceException("bad compute limit '" + text + "'; write 25% for every GPU, or 0=25%,1=none");
            }
            int gpu = ComputeCaps.gpu(part.substring(0, equals).strip(), text);
            if (change.permille[gpu] != KEEP) {
                throw new SluiceException("compute limit '" + text + "' names GPU " + gpu + " twice; name each GPU once");
            }
            change.permille[gpu] = cap(part.substring(equals + 1));
        }
        return change;
    }

    private static int cap(String text) {
        return text.strip().equals(NO_CAP) ? 0 : ComputeCaps.cap(Percent.parse(text));
    }

    /// The GPUs that a change for some is for; empty when it is for all.
    public List<Integer> named() {
        List<Integer> named = new ArrayList<>();
        for (int gpu = 0; gpu < permille.length; gpu++) {
            if (permille[gpu] != KEEP) {
                named.add(gpu);
            }
        }
        return named.size() == permille.length ? List.of() : named;
    }

    ComputeCaps appliedTo(ComputeCaps old) {
        int[] caps = new int[permille.length];
        for (int gpu = 0; gpu < caps.length; gpu++) {
            caps[gpu] = permille[gpu] == KEEP ? old.permille(gpu) : permille[gpu];
        }
        return ComputeCaps.of(caps);
    }
}
