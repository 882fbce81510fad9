package sluice.planner;

/// Shares something by weights when nobody takes more than a bound of his own.
final class Shares {
    private Shares() {}

    /// What each gets of a total: in proportion to the weights, and what one leaves because of its bound goes to the others.
    /// The sum is the total, or the sum of the bounds when that is less.
    static double[] fill(double total, double[] weights, double[] bounds) {
        double[] shares = new double[weights.length];
        boolean[] full = new boolean[weights.length];
        double left = total;
        double open = sum(weights);
        boolean changed = true;
        while (changed && open > 0) {
            changed = false;
            double unit = Math.max(0, left) / open;
            for (int at = 0; at < weights.length; at++) {
                if (!full[at] && bounds[at] <= unit * weights[at]) {
                    full[at] = true;
                    changed = true;
                    shares[at] = bounds[at];
                    left -= bounds[at];
                    open -= weights[at];
                }
            }
        }
        for (int at = 0; at < weights.length; at++) {
            shares[at] = full[at] ? shares[at] : Math.max(0, left) / open * weights[at];
        }
        return shares;
    }

    static double sum(double[] values) {
        double sum = 0;
        for (double value : values) {
            sum += value;
        }
        return sum;
    }
}
