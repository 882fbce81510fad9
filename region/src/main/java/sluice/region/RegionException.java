package sluice.region;

import java.nio.file.Path;
import sluice.region.layout.RegionLayout;
import sluice.region.place.SluiceException;

/// Why a file cannot be read as a region.
public sealed abstract class RegionException extends SluiceException {
    private static final long serialVersionUID = 1L;

    private RegionException(String message) {
        super(message);
    }

    /// The file was never a region.
    public static final class NotARegion extends RegionException {
        private static final long serialVersionUID = 1L;

        public NotARegion(Path file) {
            super(file + " is not a region; regions are made by 'sluice run' and end in .region");
        }
    }

    /// The region needs a feature that this sluice does not know.
    public static final class UnknownFeature extends RegionException {
        private static final long serialVersionUID = 1L;

        UnknownFeature(Path file, String problem) {
            super("region " + file + " " + problem);
        }
    }

    /// The region has impossible values in its format record.
    public static final class Damaged extends RegionException {
        private static final long serialVersionUID = 1L;

        Damaged(Path file) {
            super("region " + file + " is damaged: its table of places is invalid; delete it when its tenant has ended");
        }
    }

    /// The region was written by a Sluice with another layout.
    public static final class LayoutMismatch extends RegionException {
        private static final long serialVersionUID = 1L;
        private final int found;

        public LayoutMismatch(Path file, int found) {
            super("region " + file + " has layout " + found + ", this sluice reads layout " + RegionLayout.LAYOUT
                    + "; use the sluice that made it, or delete the file when its tenant has ended");
            this.found = found;
        }

        public int found() {
            return found;
        }
    }

    /// The file ends before the region does.
    public static final class Truncated extends RegionException {
        private static final long serialVersionUID = 1L;

        public Truncated(Path file, long bytes, long expected) {
            super("region " + file + " has " + bytes + " bytes, " + expected
                    + " are needed; it is damaged, delete it when its tenant has ended");
        }
    }
}
