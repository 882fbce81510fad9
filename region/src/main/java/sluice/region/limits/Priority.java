package sluice.region.limits;

import sluice.region.place.SluiceException;

/// Which tenant goes first when several want a GPU.
public enum Priority {
    LOW(-1, "low"),
    NORMAL(0, "normal"),
    HIGH(1, "high");

    private final int value;
    private final String word;

    Priority(int value, String word) {
        this.value = value;
        this.word = word;
    }

    public static Priority parse(String text) {
        return switch (text.strip()) {
            case "low" -> LOW;
            case "normal" -> NORMAL;
            case "high" -> HIGH;
            default -> throw new SluiceException("bad priority '" + text + "'; use high, normal or low");
        };
    }

    public static Priority of(int value) {
        return value < 0 ? LOW : value == 0 ? NORMAL : HIGH;
    }

    /// As in the region.
    public int value() {
        return value;
    }

    /// The word that people and the library's environment use.
    public String word() {
        return word;
    }
}
