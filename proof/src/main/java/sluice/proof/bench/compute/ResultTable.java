package sluice.proof.bench.compute;

import java.util.List;

/// Results that belong together.
///
/// @param word    by which the table is chosen
/// @param about   how it was measured
/// @param columns names of the rows' cells
public record ResultTable(String word, String about, List<String> columns, List<Row> rows) {

    String markdown() {
        StringBuilder text = new StringBuilder("## ").append(word).append("\n").append(about).append("\n\n| |");
        columns.forEach(column -> text.append(' ').append(column).append(" |"));
        text.append(" target | |\n|---|").append("---:|".repeat(columns.size())).append("---|---|\n");
        for (Row row : rows) {
            text.append("| ").append(row.name()).append(" |");
            row.cells().forEach(cell -> text.append(' ').append(cell).append(" |"));
            text.append(' ').append(row.target()).append(" | ").append(row.verdict()).append(" |\n");
        }
        return text.toString();
    }
}
