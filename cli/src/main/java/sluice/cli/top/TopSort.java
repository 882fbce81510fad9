package sluice.cli.top;

import java.util.Comparator;

/// The order of the table. For numbers the largest comes first.
enum TopSort {
    TENANT("TENANT", Comparator.comparing(TopRow::name)),
    USED("USED", Comparator.comparingLong(TopRow::usedBytes).reversed()),
    GOT("GOT", Comparator.comparingInt(TopRow::gotPermille).reversed()),
    WAIT("WAIT", Comparator.comparingInt(TopRow::waitPermille).reversed()),
    ERRORS("ERRORS", Comparator.comparingLong(TopRow::errors).reversed()),
    AGE("AGE", Comparator.comparingLong(row -> row.tenant().createdNanos()));

    private final String column;
    private final Comparator<TopRow> order;

    TopSort(String column, Comparator<TopRow> order) {
        this.column = column;
        this.order = order;
    }

    String column() {
        return column;
    }

    /// Equal rows keep their order.
    Comparator<TopRow> order(boolean reversed) {
        return reversed ? order.reversed() : order;
    }

    TopSort next() {
        return values()[(ordinal() + 1) % values().length];
    }
}
