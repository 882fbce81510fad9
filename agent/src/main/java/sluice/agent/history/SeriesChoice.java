package sluice.agent.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import sluice.agent.history.SeriesTable.Series;

/// Which series are kept if there are more than places: all GPUs, and the busiest tenants. A series loses its place only to a clearly
/// busier series, and only a few at a time. So most series are complete.
final class SeriesChoice {
    /// Thousandths of GPU time.
    private static final int CLEARLY_PERMILLE = 100;
    private static final int MOST_CHANGES = 16;

    /// @param gotPermille of the GPU's time; less than 0 when it is not known
    record Candidate(Series series, int gotPermille, long usedBytes) {
        boolean isGpu() {
            return series.tenant().isEmpty();
        }
    }

    private static final Comparator<Candidate> BUSIEST_FIRST =
            Comparator.comparingInt(Candidate::gotPermille).thenComparingLong(Candidate::usedBytes).reversed();

    private final int places;

    SeriesChoice(int places) {
        this.places = places;
    }

    /// @param known those that have a place
    Set<Series> choose(List<Candidate> candidates, Set<Series> known) {
        Set<Series> chosen = new HashSet<>();
        List<Candidate> kept = new ArrayList<>();
        List<Candidate> others = new ArrayList<>();
        for (Candidate candidate : candidates) {
            if (candidate.isGpu() && chosen.size() < places) {
                chosen.add(candidate.series());
            } else {
                (known.contains(candidate.series()) ? kept : others).add(candidate);
            }
        }
        int room = places - chosen.size();
        kept.sort(BUSIEST_FIRST);
        others.sort(BUSIEST_FIRST);
        int stay = Math.min(kept.size(), room);
        int first = Math.min(others.size(), room - stay);
        for (int change = 0; change < MOST_CHANGES && stay > 0 && first < others.size()
                && others.get(first).gotPermille() > kept.get(stay - 1).gotPermille() + CLEARLY_PERMILLE; change++) {
            stay--;
            first++;
        }
        kept.subList(0, stay).forEach(each -> chosen.add(each.series()));
        others.subList(0, first).forEach(each -> chosen.add(each.series()));
        return chosen;
    }
}
