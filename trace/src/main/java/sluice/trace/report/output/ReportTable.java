package sluice.trace.report.output;

import java.util.ArrayList;
import java.util.List;

/// A table of the page. Its columns can be sorted; rows beyond the first are shown when asked for.
final class ReportTable {
    private static final int ROWS = 12;
    private static final int MOST_ROWS = 300;

    private final List<String> titles = new ArrayList<>();
    private final List<String> kinds = new ArrayList<>();
    private final List<String> rows = new ArrayList<>();
    private final StringBuilder row = new StringBuilder();
    private String foot = "";
    private int column;

    /// @param kind classes of its cells: `small` is left out on a phone, `left` is text, `name` may break
    ReportTable column(String title, String kind) {
        titles.add(title);
        kinds.add(kind);
        return this;
    }

    ReportTable column(String title) {
        return column(title, "");
    }

    /// A cell that is sorted by a number.
    ReportTable cell(String text, long value) {
        return raw(ReportHtml.escaped(text), value == 0 ? "zero" : "", Long.toString(value));
    }

    ReportTable bad(String text, long value) {
        return raw(ReportHtml.escaped(text), value == 0 ? "zero" : "bad", Long.toString(value));
    }

    ReportTable text(String text) {
        return raw(ReportHtml.escaped(text), "", null);
    }

    /// A cell with HTML in it.
    ReportTable html(String html) {
        return raw(html, "", null);
    }

    /// A name, a second line for it, and a bar for its part of the largest.
    ReportTable name(String name, String more, double part, String colour) {
        String small = more.isEmpty() ? "" : "<small>" + ReportHtml.escaped(more) + "</small>";
        return raw("<code>" + ReportHtml.escaped(name) + "</code>" + small + ReportHtml.format(
                "<span class=\"track\"><i style=\"width:%.1f%%;background:var(--%s)\"></i></span>", 100 * part, colour), "name", null);
    }

    private ReportTable raw(String html, String kind, String value) {
        String kinds = (this.kinds.get(column++) + " " + kind).strip();
        row.append("<td").append(kinds.isEmpty() ? "" : " class=\"" + kinds + "\"")
                .append(value == null ? "" : " data-value=\"" + value + "\"").append('>').append(html).append("</td>");
        return this;
    }

    void end() {
        rows.add(row.toString());
        row.setLength(0);
        column = 0;
    }

    void foot() {
        foot = row.toString();
        row.setLength(0);
        column = 0;
    }

    String html() {
        StringBuilder html = new StringBuilder("<div><div class=\"wide\"><table data-rows=\"" + ROWS + "\"><thead><tr>");
        for (int i = 0; i < titles.size(); i++) {
            html.append("<th").append(kinds.get(i).isEmpty() ? "" : " class=\"" + kinds.get(i) + "\"").append("><button type=\"button\">")
                    .append(ReportHtml.escaped(titles.get(i))).append("</button></th>");
        }
        html.append("</tr></thead>\n<tbody>\n");
        for (int i = 0; i < Math.min(rows.size(), MOST_ROWS); i++) {
            html.append(i < ROWS ? "<tr>" : "<tr class=\"more\">").append(rows.get(i)).append("</tr>\n");
        }
        html.append("</tbody>").append(foot.isEmpty() ? "" : "<tfoot><tr>" + foot + "</tr></tfoot>").append("</table></div>\n");
        if (rows.size() > ROWS) {
            html.append("<p><button type=\"button\" class=\"show\">Show all ").append(Math.min(rows.size(), MOST_ROWS)).append("</button></p>\n");
        }
        if (rows.size() > MOST_ROWS) {
            html.append("<p class=\"meta\">").append(rows.size() - MOST_ROWS).append(" more are in the sums, and in the JSON.</p>\n");
        }
        return html.append("</div>\n").toString();
    }
}
