package sluice.proof;

import java.util.Locale;

/// What a measurement should not exceed.
public sealed interface Target {

    boolean met(Measurement measurement);

    String text();

    record AddedAtMost(double nanos) implements Target {
        @Override
        public boolean met(Measurement measurement) {
            return measurement.added().median() <= nanos;
        }

        @Override
        public String text() {
            return "≤ " + Nanos.signed(nanos);
        }
    }

    record RatioAtMost(double ratio) implements Target {
        @Override
        public boolean met(Measurement measurement) {
            return measurement.ratio().median() <= ratio;
        }

        @Override
        public String text() {
            return String.format(Locale.ROOT, "≤ %.2f×", ratio);
        }
    }
}
