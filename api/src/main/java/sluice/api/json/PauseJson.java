package sluice.api.json;

import java.util.Optional;
import sluice.region.Tenant;
import sluice.region.pause.Command;
import sluice.region.pause.Depth;
import sluice.region.pause.PauseStep;
import sluice.region.pause.ProcessPause;
import sluice.region.pause.ProcessPause.Host;
import sluice.region.pause.ProcessPause.Moved;
import sluice.region.pause.ProcessPause.Moving;
import sluice.region.pause.ProcessPause.Own;
import sluice.region.pause.TenantPause;
import tools.jackson.core.JsonGenerator;

/// Pauses for scripts. `asked` is the last command of a tenant, `pause` its progress. Both are left out of a tenant that never had a
/// command. `own` is the request of a signal or a file of an older tool to one process.
final class PauseJson {
    private PauseJson() {}

    static Optional<Command> told(Command asked) {
        return Optional.of(asked).filter(command -> command.word() != 0);
    }

    static Optional<ProcessPause> told(ProcessPause pause) {
        return Optional.of(pause).filter(ProcessPause::able);
    }

    static Command asked(JsonProperties<Command> at) {
        return Command.of(at.number("number", Command::number), Depth.find(at.text("depth", command -> command.depth().word())).orElse(Depth.HOLD),
                at.number("atNanos", Command::atNanos));
    }

    static ProcessPause process(JsonProperties<ProcessPause> at) {
        return new ProcessPause(true, at.flag("attended", ProcessPause::attended), at.number("answer", ProcessPause::answer),
                at.number("refused", ProcessPause::refused), moving(at), host(at), moved(at), at.number("sinceNanos", ProcessPause::sinceNanos),
                at.text("reason", ProcessPause::reason), at.objectIf("own", pause -> Optional.of(pause.own()).filter(own -> own.word() != 0), PauseJson::own).orElse(Own.NONE));
    }

    private static Own own(JsonProperties<Own> at) {
        return new Own(at.number("word", Own::word), at.number("answer", Own::answer), at.number("refused", Own::refused));
    }

    private static Moving moving(JsonProperties<ProcessPause> at) {
        return new Moving(PauseStep.find(at.text("step", pause -> pause.moving().step().word())).orElse(PauseStep.NONE),
                at.number("stepNanos", pause -> pause.moving().sinceNanos()), at.number("totalBytes", pause -> pause.moving().totalBytes()),
                at.number("movedBytes", pause -> pause.moving().movedBytes()));
    }

    private static Host host(JsonProperties<ProcessPause> at) {
        return new Host(at.number("awayBytes", pause -> pause.host().awayBytes()), at.number("stayingBytes", pause -> pause.host().stayingBytes()),
                at.number("reservoirBytes", pause -> pause.host().reservoirBytes()));
    }

    private static Moved moved(JsonProperties<ProcessPause> at) {
        return new Moved(at.number("releases", pause -> pause.moved().releases()), at.number("outBytes", pause -> pause.moved().outBytes()),
                at.number("outNanos", pause -> pause.moved().outNanos()), at.number("backBytes", pause -> pause.moved().backBytes()),
                at.number("backNanos", pause -> pause.moved().backNanos()), at.number("pausedNanos", pause -> pause.moved().pausedNanos()));
    }

    /// All processes together.
    static void summary(JsonGenerator json, Tenant tenant) {
        TenantPause pause = tenant.pause();
        if (told(tenant.asked()).isEmpty() && pause.own().paused() == 0) {
            return;
        }
        json.writeObjectPropertyStart("pause");
        json.writeNumberProperty("sinceNanos", pause.sinceNanos());
        json.writeStringProperty("step", pause.moving().step().word());
        json.writeStringProperty("stepWords", pause.moving().step().words());
        json.writeNumberProperty("stepNanos", pause.moving().sinceNanos());
        json.writeNumberProperty("totalBytes", pause.moving().totalBytes());
        json.writeNumberProperty("movedBytes", pause.moving().movedBytes());
        json.writeNumberProperty("awayBytes", pause.host().awayBytes());
        json.writeNumberProperty("stayingBytes", pause.host().stayingBytes());
        json.writeNumberProperty("reservoirBytes", pause.host().reservoirBytes());
        json.writeBooleanProperty("refused", pause.refused());
        json.writeStringProperty("reason", pause.reason());
        json.writeNumberProperty("ownPauses", pause.own().paused());
        json.writeEndObject();
    }
}
