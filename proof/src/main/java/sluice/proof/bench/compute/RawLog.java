package sluice.proof.bench.compute;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.List;
import java.util.Locale;

/// Every single measured value, as a line of CSV, written at once.
public final class RawLog {
    private final Writer out;

    RawLog(Writer out) {
        this.out = out;
        line("table,row,repeat,tenant,quantity,at,value");
    }

    /// @param at where in a series, such as seconds since the begin; 0 for a single value
    public void add(String table, String row, int repeat, int tenant, String quantity, double at, double value) {
        line(String.format(Locale.ROOT, "%s,\"%s\",%d,%d,%s,%.3f,%.6g", table, row, repeat, tenant, quantity, at, value));
    }

    public void addAll(String table, String row, int repeat, int tenant, String quantity, List<Double> values) {
        for (int i = 0; i < values.size(); i++) {
            add(table, row, repeat, tenant, quantity, i, values.get(i));
        }
    }

    private void line(String text) {
        try {
            out.append(text).append("\n").flush();
        } catch (IOException failed) {
            throw new UncheckedIOException("cannot write the raw values", failed);
        }
    }
}
