package sluice.region.limits;

import sluice.region.place.SluiceException;

/// What the library does when it cannot enforce the limits. The ordinals are the values in the region.
public enum OnError {
    /// The program runs on without limits, with one warning.
    RUN,
    /// The program's CUDA calls fail.
    FAIL;

    public static OnError parse(String text) {
        return switch (text) {
            case "run" -> RUN;
            case "fail" -> FAIL;
            default -> throw new SluiceException("bad value '" + text + "'; use run or fail");
        };
    }

    public static OnError of(int value) {
        return value == 0 ? RUN : FAIL;
    }

    /// The word that people and the library's environment use.
    public String word() {
        return this == RUN ? "run" : "fail";
    }
}
