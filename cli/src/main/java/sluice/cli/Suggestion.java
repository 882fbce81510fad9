package sluice.cli;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/// The known word that a mistyped one is nearest to.
final class Suggestion {
    private Suggestion() {}

    static Optional<String> nearest(String typed, Collection<String> known) {
        int tolerated = Math.max(1, typed.length() / 3);
        return known.stream()
                .filter(word -> typed.length() > 2 || word.length() > 2)
                .filter(word -> distance(typed, word) <= tolerated || typed.length() > 3 && word.startsWith(typed))
                .min(Comparator.comparingInt(word -> distance(typed, word)));
    }

    /// The number of letters to insert, remove or change.
    static int distance(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int column = 0; column < row.length; column++) {
            row[column] = column;
        }
        for (int line = 1; line <= from.length(); line++) {
            int diagonal = row[0];
            row[0] = line;
            for (int column = 1; column < row.length; column++) {
                int change = diagonal + (from.charAt(line - 1) == to.charAt(column - 1) ? 0 : 1);
                diagonal = row[column];
                row[column] = Math.min(change, 1 + Math.min(row[column], row[column - 1]));
            }
        }
        return row[to.length()];
    }
}
