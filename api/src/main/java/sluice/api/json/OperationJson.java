package sluice.api.json;

import sluice.api.model.Operation;
import sluice.region.pause.PauseStep;
import sluice.region.pause.ProcessPause.Host;
import sluice.region.pause.ProcessPause.Moving;
import sluice.region.place.SluiceException;
import tools.jackson.core.JsonGenerator;

/// A pause or a resume for scripts. Moments are nanoseconds since 1970; `endedNanos` is 0 while it runs.
public final class OperationJson {
    private OperationJson() {}

    public static void write(JsonGenerator json, Operation operation) {
        JsonProperties.writeObject(json, operation, OperationJson::describe);
    }

    public static Operation read(JsonTree json) {
        return JsonProperties.read(json, OperationJson::describe);
    }

    private static Operation describe(JsonProperties<Operation> at) {
        return new Operation(at.text("id", Operation::id), at.text("tenant", Operation::tenant), at.number("uid", Operation::uid),
                Operation.Kind.find(at.text("kind", operation -> operation.kind().word())).orElseThrow(OperationJson::unknown),
                Operation.State.find(at.text("state", operation -> operation.state().word())).orElseThrow(OperationJson::unknown),
                new Moving(PauseStep.find(at.text("step", operation -> operation.moving().step().word())).orElse(PauseStep.NONE),
                        at.number("stepNanos", operation -> operation.moving().sinceNanos()),
                        at.number("totalBytes", operation -> operation.moving().totalBytes()),
                        at.number("movedBytes", operation -> operation.moving().movedBytes())),
                new Host(at.number("awayBytes", operation -> operation.host().awayBytes()),
                        at.number("stayingBytes", operation -> operation.host().stayingBytes()),
                        at.number("reservoirBytes", operation -> operation.host().reservoirBytes())),
                at.text("reason", Operation::reason), at.number("beganNanos", Operation::beganNanos), at.number("endedNanos", Operation::endedNanos));
    }

    private static SluiceException unknown() {
        return new SluiceException("the agent tells of an operation that is not known here; use the same version of both");
    }
}
