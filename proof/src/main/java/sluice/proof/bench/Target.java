package sluice.proof.bench;

import java.util.Locale;

/// The bound that a measurement should not exceed.
public sealed interface Target {

    Verdict verdict(Measurement measurement);

    String text();

    record AddedAtMost(double nanos) implements Target {
        @Override
        public Verdict verdict(Measurement measurement) {
            return Verdict.of(measurement.added(), nanos);
        }

        @Override
        public String text() {
            return "≤ " + Nanos.signed(nanos);
        }
    }

    record RatioAtMost(double ratio) implements Target {
        @Override
        public Verdict verdict(Measurement measurement) {
            return Verdict.of(measurement.ratio(), ratio);
        }

        @Override
        public String text() {
            return String.format(Locale.ROOT, "≤ %.2f×", ratio);
        }
    }
}
