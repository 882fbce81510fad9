package sluice.cli.top;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import sluice.api.model.Operation;
import sluice.cli.top.terminal.TopKey;
import sluice.region.LimitsChange;
import sluice.region.Tenant;
import sluice.region.limits.Limit;
import sluice.region.place.SluiceException;

/// The effect of a key: another state, and perhaps an action.
record TopStep(TopState state, Action action) {
    sealed interface Action {}

    enum Simple implements Action {
        NOTHING,
        QUIT,
        SUSPEND,
        REDRAW
    }

    record SetTo(Tenant tenant, LimitsChange change) implements Action {}

    record OperateTo(Tenant tenant, Operation.Kind kind) implements Action {}

    private static final int PAGE = 10;

    private static TopStep to(TopState state) {
        return new TopStep(state, Simple.NOTHING);
    }

    static TopStep press(TopKey key, TopState before, TopLook look) {
        TopState state = before.saying("");
        return switch (key.kind()) {
            case INTERRUPT -> new TopStep(state, Simple.QUIT);
            case SUSPEND -> new TopStep(state, Simple.SUSPEND);
            case REDRAW -> new TopStep(state, Simple.REDRAW);
            default -> switch (state.mode()) {
                case TopMode.Watching() -> watching(key, state, look);
                case TopMode.Helping() -> to(state.in(new TopMode.Watching()));
                case TopMode.Filtering filtering -> to(filtering(key, state, filtering, look));
                case TopMode.Choosing(Tenant tenant) -> to(choosing(key, state, tenant));
                case TopMode.Pausing(Tenant tenant) -> pausing(key, state, tenant);
                case TopMode.Editing editing -> to(editing(key, state, editing));
                case TopMode.Confirming confirming -> confirming(key, state, confirming);
            };
        };
    }

    private static TopStep watching(TopKey key, TopState state, TopLook look) {
        return switch (key.kind()) {
            case UP, DOWN, PAGE_UP, PAGE_DOWN, HOME, END -> to(moved(key.kind(), state, look));
            case ENTER -> to(state.detailed(state.details().next()).saying("details: " + state.details().next().words()));
            case ESCAPE -> to(state.filtered("").onGpu(""));
            case LETTER -> command(key.letter(), state, look);
            default -> to(state);
        };
    }

    private static TopStep command(int letter, TopState state, TopLook look) {
        return switch (letter) {
            case 'q', 'Q' -> new TopStep(state, Simple.QUIT);
            case 'h', '?' -> to(state.in(new TopMode.Helping()));
            case 's' -> to(state.sortedBy(state.sort().next(), false));
            case 'r' -> to(state.sortedBy(state.sort(), !state.reversed()));
            case '/' -> to(state.in(new TopMode.Filtering(state.filter())));
            case 'g' -> to(state.onGpu(nextGpu(state.gpu(), look)));
            case ' ' -> to(state.holding(!state.held()));
            case 'j' -> to(moved(TopKey.Kind.DOWN, state, look));
            case 'k' -> to(moved(TopKey.Kind.UP, state, look));
            case 'l' -> to(asking(state, look, TopMode.Choosing::new));
            case 'p' -> to(asking(state, look, TopMode.Pausing::new));
            default -> to(state);
        };
    }

    private static TopState asking(TopState state, TopLook look, Function<Tenant, TopMode> mode) {
        return selected(state, look).map(row -> state.in(mode.apply(row.tenant()))).orElse(state.saying("no tenant is selected"));
    }

    private static TopStep pausing(TopKey key, TopState state, Tenant tenant) {
        TopState watching = state.in(new TopMode.Watching());
        return TopPause.of(key.letter()).map(choice -> new TopStep(watching, new OperateTo(tenant, choice.kind())))
                .orElse(to(watching.saying("nothing was changed")));
    }

    /// All GPUs, then one after the other.
    private static String nextGpu(String shown, TopLook look) {
        List<String> uuids = look.gpus().stream().map(TopGpu::uuid).toList();
        int next = shown.isEmpty() ? 0 : uuids.indexOf(shown) + 1;
        return uuids.size() < 2 || next >= uuids.size() || next == 0 && !shown.isEmpty() ? "" : uuids.get(next);
    }

    private static Optional<TopRow> selected(TopState state, TopLook look) {
        List<TopRow> rows = state.rows(look);
        return rows.isEmpty() ? Optional.empty() : Optional.of(rows.get(state.position(rows)));
    }

    private static TopState moved(TopKey.Kind kind, TopState state, TopLook look) {
        List<TopRow> rows = state.rows(look);
        if (rows.isEmpty()) {
            return state;
        }
        int at = state.position(rows);
        int wanted = switch (kind) {
            case UP -> at - 1;
            case DOWN -> at + 1;
            case PAGE_UP -> at - PAGE;
            case PAGE_DOWN -> at + PAGE;
            case HOME -> 0;
            default -> rows.size() - 1;
        };
        return state.selecting(rows.get(Math.clamp(wanted, 0, rows.size() - 1)).key());
    }

    private static TopState filtering(TopKey key, TopState state, TopMode.Filtering mode, TopLook look) {
        String text = state.filter();
        return switch (key.kind()) {
            case ENTER -> state.in(new TopMode.Watching());
            case ESCAPE -> state.filtered(mode.before()).in(new TopMode.Watching());
            case UP, DOWN -> moved(key.kind(), state, look);
            default -> state.filtered(typed(text, key));
        };
    }

    private static TopState choosing(TopKey key, TopState state, Tenant tenant) {
        return Limit.changeable().stream().filter(limit -> limit.key() == key.letter()).findFirst()
                .map(limit -> state.in(new TopMode.Editing(tenant, limit, "", "")))
                .orElse(state.in(new TopMode.Watching()));
    }

    private static TopState editing(TopKey key, TopState state, TopMode.Editing mode) {
        if (key.kind() == TopKey.Kind.ESCAPE || key.kind() == TopKey.Kind.ENTER && mode.text().isBlank()) {
            return state.in(new TopMode.Watching());
        }
        if (key.kind() != TopKey.Kind.ENTER) {
            return state.in(new TopMode.Editing(mode.tenant(), mode.limit(), typed(mode.text(), key), ""));
        }
        try {
            return state.in(new TopMode.Confirming(mode.tenant(), mode.limit(), mode.text(), LimitsChange.of(mode.limit(), mode.text().strip())));
        } catch (SluiceException e) {
            return state.in(new TopMode.Editing(mode.tenant(), mode.limit(), mode.text(), e.getMessage()));
        }
    }

    private static TopStep confirming(TopKey key, TopState state, TopMode.Confirming mode) {
        TopState watching = state.in(new TopMode.Watching());
        return key.letter() == 'y' || key.letter() == 'Y'
                ? new TopStep(watching, new SetTo(mode.tenant(), mode.change()))
                : to(watching.saying("nothing was changed"));
    }

    private static String typed(String text, TopKey key) {
        return switch (key.kind()) {
            case LETTER -> text + Character.toString(key.letter());
            case BACKSPACE -> text.isEmpty() ? text : text.substring(0, text.offsetByCodePoints(text.length(), -1));
            case CLEAR -> "";
            default -> text;
        };
    }
}
