package sluice.proof.bench;

import java.util.List;

/// Least, middle and greatest of some values.
public record Spread(double minimum, double median, double maximum) {

    public static Spread of(List<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("there is no spread of no values");
        }
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        int middle = sorted.length / 2;
        double median = sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return new Spread(sorted[0], median, sorted[sorted.length - 1]);
    }
}
