package sluice.cli.top;

import java.util.List;
import java.util.Locale;

/// The choices of the user at the terminal.
///
/// @param filter   shows tenants whose name, command or pid contains it
/// @param gpu      UUID of the one GPU that is shown; empty for all
/// @param selected key of the row that details and limits are about
/// @param held     whether the view stands still
/// @param message  the result of the last key, until the next key
record TopState(
        TopSort sort,
        boolean reversed,
        String filter,
        String gpu,
        String selected,
        Details details,
        boolean held,
        TopMode mode,
        String message) {

    /// Whether the selected tenant is shown in detail.
    enum Details {
        IF_ROOM("where there is room"),
        NEVER("off"),
        ALWAYS("on");

        private final String words;

        Details(String words) {
            this.words = words;
        }

        String words() {
            return words;
        }

        Details next() {
            return values()[(ordinal() + 1) % values().length];
        }
    }

    static final TopState FIRST =
            new TopState(TopSort.AGE, false, "", "", "", Details.IF_ROOM, false, new TopMode.Watching(), "");

    /// The rows that are shown, in their order.
    List<TopRow> rows(TopLook look) {
        return look.rows().stream()
                .filter(row -> gpu.isEmpty() || row.isOn(gpu))
                .filter(row -> filter.isEmpty() || matches(row))
                .sorted(sort.order(reversed))
                .toList();
    }

    private boolean matches(TopRow row) {
        return contains(row.tenant().name()) || contains(row.tenant().command())
                || Long.toString(row.tenant().root().pid()).equals(filter)
                || row.tenant().liveProcesses().stream().anyMatch(process -> Long.toString(process.identity().pid()).equals(filter));
    }

    private boolean contains(String text) {
        return text.toLowerCase(Locale.ROOT).contains(filter.toLowerCase(Locale.ROOT));
    }

    /// Where the selected row is among those; the first when it is gone.
    int position(List<TopRow> rows) {
        for (int at = 0; at < rows.size(); at++) {
            if (rows.get(at).key().equals(selected)) {
                return at;
            }
        }
        return 0;
    }

    List<TopGpu> gpus(TopLook look) {
        return look.gpus().stream().filter(each -> gpu.isEmpty() || each.uuid().equals(gpu)).toList();
    }

    TopState sortedBy(TopSort by, boolean backwards) {
        return new TopState(by, backwards, filter, gpu, selected, details, held, mode, message);
    }

    TopState filtered(String text) {
        return new TopState(sort, reversed, text, gpu, selected, details, held, mode, message);
    }

    TopState onGpu(String uuid) {
        return new TopState(sort, reversed, filter, uuid, selected, details, held, mode, message);
    }

    TopState selecting(String key) {
        return new TopState(sort, reversed, filter, gpu, key, details, held, mode, message);
    }

    TopState detailed(Details choice) {
        return new TopState(sort, reversed, filter, gpu, selected, choice, held, mode, message);
    }

    TopState holding(boolean still) {
        return new TopState(sort, reversed, filter, gpu, selected, details, still, mode, message);
    }

    TopState in(TopMode other) {
        return new TopState(sort, reversed, filter, gpu, selected, details, held, other, message);
    }

    TopState saying(String text) {
        return new TopState(sort, reversed, filter, gpu, selected, details, held, mode, text);
    }
}
