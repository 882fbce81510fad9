package sluice.proof.bench.compute;

import java.util.List;
import sluice.proof.bench.Chart;

/// The sums that are kept of a witness after its many stamps are discarded.
///
/// @param whole   share of everything after the first second
/// @param seconds shares of each second after the first
/// @param tenths  shares of each tenth of a second from the begin on
record WitnessShares(double whole, List<Double> seconds, List<Double> tenths) {
    private static final long TENTH = Witness.SECOND / 10;

    static WitnessShares of(Witness witness) {
        return new WitnessShares(witness.share(), witness.seconds(), witness.busy().windows(witness.began(), witness.ended(), TENTH));
    }

    /// As a line of a chart: seconds and percents.
    Chart.Series line(String name, double beganSeconds) {
        Chart.Series line = new Chart.Series(name);
        for (int i = 0; i < tenths.size(); i++) {
            line.add(beganSeconds + (i + 0.5) / 10, tenths.get(i) * 100);
        }
        return line;
    }
}
