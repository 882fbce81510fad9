package sluice.proof.bench.latency;

import sluice.proof.stage.Mps;
import sluice.proof.stage.Terms;
import sluice.region.limits.Limit;

/// How bursts and other tenants share the GPU. With the library, all of them are under a quota too.
enum Way {
    PLAIN("no library", Terms.NONE, Terms.NONE),
    MPS("MPS", Terms.NONE.withEnvironment(Mps.settings(0)), Terms.NONE.withEnvironment(Mps.settings(1))),
    PRIORITIES("priorities without slices", of("high"), of("low")),
    SLICES("priorities with slices", of("high").withSlices(), of("low").withSlices());

    private final String text;
    private final Terms bursts;
    private final Terms others;

    Way(String text, Terms bursts, Terms others) {
        this.text = text;
        this.bursts = bursts;
        this.others = others;
    }

    private static Terms of(String priority) {
        return Terms.priority(priority).with(Limit.MEMORY, "4g");
    }

    String text() {
        return text;
    }

    Terms bursts() {
        return bursts;
    }

    Terms others() {
        return others;
    }

    /// Only time slices promise a latency close to that of bursts alone.
    boolean isJudged() {
        return this == SLICES;
    }
}
