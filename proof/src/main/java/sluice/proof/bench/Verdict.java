package sluice.proof.bench;

/// Whether a target is met: by the median of the repeats, missed only if every repeat missed it.
public enum Verdict {
    MET("met"),
    UNCLEAR("unclear: within the noise"),
    MISSED("missed");

    private final String text;

    Verdict(String text) {
        this.text = text;
    }

    static Verdict of(Spread spread, double limit) {
        if (spread.median() <= limit) {
            return MET;
        }
        return spread.minimum() <= limit ? UNCLEAR : MISSED;
    }

    public String text() {
        return text;
    }
}
