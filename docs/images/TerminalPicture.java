import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// Makes a picture of what a terminal shows.
///
///     tmux capture-pane -e -p -t sluice | java docs/images/TerminalPicture.java 80 'sluice top' > docs/images/top.svg
///
/// Knows the attributes that `sluice top` uses: bold, and the 256 colours before and behind a letter. Blocks and shades are
/// drawn, not written, so that bars look the same with every font.
final class TerminalPicture {
    private static final double CELL_WIDTH = 8.4;
    private static final double CELL_HEIGHT = 18;
    private static final double MARGIN = 16;
    private static final double TITLE = 34;
    private static final String PAPER = "#16181d";
    private static final String INK = "#d7dae0";
    private static final String[] FIRST_COLOURS = {"#16181d", "#d7675f", "#87af5f", "#d7af5f", "#5f87af", "#af87af", "#5fafaf", "#d7dae0",
        "#6c7078", "#e78780", "#a7cf7f", "#e7c77f", "#7fa7cf", "#cfa7cf", "#7fcfcf", "#ffffff"};
    private static final String EIGHTHS_RIGHT = "▏▎▍▌▋▊▉█";
    private static final String EIGHTHS_UP = "▁▂▃▄▅▆▇█";

    private record Cell(String letter, String ink, String paper, boolean bold) {}

    private final StringBuilder svg = new StringBuilder();
    private String ink = INK;
    private String paper = PAPER;
    private boolean bold;

    public static void main(String[] args) throws IOException {
        List<String> lines = new ArrayList<>();
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            in.lines().forEach(lines::add);
        }
        byte[] picture = new TerminalPicture().draw(lines, Integer.parseInt(args[0]), args[1]).getBytes(StandardCharsets.UTF_8);
        System.out.write(picture);
        System.out.flush();
    }

    private String draw(List<String> lines, int columns, String title) {
        double width = columns * CELL_WIDTH + 2 * MARGIN;
        double height = lines.size() * CELL_HEIGHT + TITLE + MARGIN;
        svg.append(String.format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\">%n", width, height, width, height));
        svg.append("<title>").append(escaped(title)).append("</title>\n");
        svg.append(String.format("<rect width=\"%.0f\" height=\"%.0f\" rx=\"10\" fill=\"%s\"/>%n", width, height, PAPER));
        for (int dot = 0; dot < 3; dot++) {
            svg.append(String.format("<circle cx=\"%.1f\" cy=\"17\" r=\"5\" fill=\"#3a3e47\"/>%n", MARGIN + 4 + dot * 16));
        }
        svg.append(String.format("<text x=\"%.1f\" y=\"21\" text-anchor=\"middle\" fill=\"#6c7078\" font-family=\"system-ui,sans-serif\" font-size=\"12\">%s</text>%n", width / 2, escaped(title)));
        svg.append("<g font-family=\"ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace\" font-size=\"14\" shape-rendering=\"crispEdges\" xml:space=\"preserve\">\n");
        for (int row = 0; row < lines.size(); row++) {
            row(cells(lines.get(row)), TITLE + row * CELL_HEIGHT);
        }
        return svg.append("</g>\n</svg>\n").toString();
    }

    private void row(List<Cell> cells, double top) {
        int at = 0;
        while (at < cells.size()) {
            Cell cell = cells.get(at);
            int end = at + 1;
            while (end < cells.size() && cells.get(end).paper().equals(cell.paper())) {
                end++;
            }
            if (!cell.paper().equals(PAPER)) {
                block(at * CELL_WIDTH, top, (end - at) * CELL_WIDTH, CELL_HEIGHT, cell.paper());
            }
            at = end;
        }
        at = 0;
        while (at < cells.size()) {
            Cell cell = cells.get(at);
            int end = at + 1;
            while (end < cells.size() && sameText(cell, cells.get(end))) {
                end++;
            }
            StringBuilder text = new StringBuilder();
            cells.subList(at, end).forEach(each -> text.append(each.letter()));
            if (!drawn(cell, at * CELL_WIDTH, top) && !text.toString().isBlank()) {
                svg.append(String.format("<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\"%s textLength=\"%.1f\">%s</text>%n", MARGIN + at * CELL_WIDTH,
                        top + CELL_HEIGHT - 5, cell.ink(), cell.bold() ? " font-weight=\"bold\"" : "", (end - at) * CELL_WIDTH, escaped(text.toString())));
            }
            at = end;
        }
    }

    private static boolean sameText(Cell one, Cell other) {
        return one.ink().equals(other.ink()) && one.bold() == other.bold() && !isDrawn(one) && !isDrawn(other);
    }

    private static boolean isDrawn(Cell cell) {
        return (EIGHTHS_RIGHT + EIGHTHS_UP + "░■╌").contains(cell.letter()) && !cell.letter().isBlank();
    }

    private boolean drawn(Cell cell, double left, double top) {
        int right = EIGHTHS_RIGHT.indexOf(cell.letter());
        int up = EIGHTHS_UP.indexOf(cell.letter());
        if (!isDrawn(cell)) {
            return false;
        }
        if (right >= 0) {
            block(left, top, CELL_WIDTH * (right + 1) / 8, CELL_HEIGHT, cell.ink());
        } else if (up >= 0) {
            double height = CELL_HEIGHT * (up + 1) / 8;
            block(left, top + CELL_HEIGHT - height, CELL_WIDTH, height, cell.ink());
        } else {
            switch (cell.letter()) {
                case "░" -> block(left, top, CELL_WIDTH, CELL_HEIGHT, "#24272e");
                case "■" -> block(left + 0.4, top + 5, CELL_WIDTH - 0.8, CELL_WIDTH - 0.4, cell.ink());
                default -> block(left, top + CELL_HEIGHT / 2 - 0.5, CELL_WIDTH, 1, "#3a3e47");
            }
        }
        return true;
    }

    /// A line between lines of a bar keeps them apart.
    private void block(double left, double top, double width, double height, String colour) {
        double gap = height == CELL_HEIGHT ? 1 : 0;
        svg.append(String.format("<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\"/>%n", MARGIN + left, top + gap, width, height - 2 * gap, colour));
    }

    private List<Cell> cells(String line) {
        List<Cell> cells = new ArrayList<>();
        int at = 0;
        while (at < line.length()) {
            int end = line.indexOf('m', at);
            if (line.startsWith("\033[", at) && end > 0) {
                attributes(line.substring(at + 2, end));
                at = end + 1;
            } else {
                int letter = line.codePointAt(at);
                cells.add(new Cell(Character.toString(letter), ink, paper, bold));
                at += Character.charCount(letter);
            }
        }
        return cells;
    }

    private void attributes(String codes) {
        String[] numbers = codes.isEmpty() ? new String[] {"0"} : codes.split("[;:]");
        for (int at = 0; at < numbers.length; at++) {
            int code = numbers[at].isEmpty() ? 0 : Integer.parseInt(numbers[at]);
            boolean indexed = (code == 38 || code == 48) && at + 2 < numbers.length;
            String colour = indexed ? colour(Integer.parseInt(numbers[at + 2])) : "";
            ink = code == 0 || code == 39 ? INK : code == 38 && indexed ? colour : code >= 30 && code <= 37 ? colour(code - 30) : ink;
            paper = code == 0 || code == 49 ? PAPER : code == 48 && indexed ? colour : code >= 40 && code <= 47 ? colour(code - 40) : paper;
            bold = code != 0 && code != 22 && (bold || code == 1);
            at += indexed ? 2 : 0;
        }
    }

    private static String colour(int index) {
        if (index < 16) {
            return FIRST_COLOURS[index];
        }
        if (index >= 232) {
            int grey = 8 + (index - 232) * 10;
            return String.format("#%02x%02x%02x", grey, grey, grey);
        }
        int cube = index - 16;
        return String.format("#%02x%02x%02x", step(cube / 36), step(cube / 6 % 6), step(cube % 6));
    }

    private static int step(int level) {
        return level == 0 ? 0 : 55 + level * 40;
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
