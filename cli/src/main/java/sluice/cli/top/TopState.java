package sluice.cli.top;

import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

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
        return with(next -> {
            next.sort = by;
            next.reversed = backwards;
        });
    }

    TopState filtered(String text) {
        return with(next -> next.filter = text);
    }

    TopState onGpu(String uuid) {
        return with(next -> next.gpu = uuid);
    }

    TopState selecting(String key) {
        return with(next -> next.selected = key);
    }

    TopState detailed(Details choice) {
        return with(next -> next.details = choice);
    }

    TopState holding(boolean still) {
        return with(next -> next.held = still);
    }

    TopState in(TopMode other) {
        return with(next -> next.mode = other);
    }

    TopState saying(String text) {
        return with(next -> next.message = text);
    }

    private TopState with(Consumer<Draft> change) {
        Draft next = new Draft(this);
        change.accept(next);
        return next.state();
    }

    /// A state while it is being changed.
    private static final class Draft {
        private TopSort sort;
        private boolean reversed;
        private String filter;
        private String gpu;
        private String selected;
        private Details details;
        private boolean held;
        private TopMode mode;
        private String message;

        Draft(TopState state) {
            sort = state.sort;
            reversed = state.reversed;
            filter = state.filter;
            gpu = state.gpu;
            selected = state.selected;
            details = state.details;
            held = state.held;
            mode = state.mode;
            message = state.message;
        }

        TopState state() {
            return new TopState(sort, reversed, filter, gpu, selected, details, held, mode, message);
        }
    }
}
