package sluice.proof.bench;

import java.util.List;

/// The bounds of the middle half of some values.
public record Quartiles(double lower, double upper) {

    public static Quartiles of(List<Double> values) {
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return new Quartiles(at(sorted, 0.25), at(sorted, 0.75));
    }

    private static double at(double[] sorted, double part) {
        return sorted[(int) Math.round(part * (sorted.length - 1))];
    }
}
