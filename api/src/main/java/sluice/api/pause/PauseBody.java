package sluice.api.pause;

import java.time.Duration;
import java.util.Optional;
import sluice.api.json.JsonBytes;
import sluice.api.json.JsonTree;
import sluice.api.model.Operation.Kind;
import sluice.region.pause.Depth;
import sluice.region.place.SluiceException;

/// A pause or a resume as JSON: `{"depth": "release", "timeoutMillis": 30000}`. A resume has no depth; without a time it is waited for ever.
///
/// @param timeout after which a pause is taken back
public record PauseBody(Kind kind, Optional<Duration> timeout) {
    private static final String DEPTH = "depth";
    private static final String TIMEOUT = "timeoutMillis";
    private static final long LONGEST_MILLIS = Duration.ofDays(1).toMillis();

    public static PauseBody pause(byte[] body) {
        JsonTree json = tree(body);
        String word = json.has(DEPTH) ? json.at(DEPTH).value().toString() : Depth.HOLD.word();
        Depth depth = Depth.find(word).filter(Depth::isPause)
                .orElseThrow(() -> new SluiceException("bad depth '" + word + "'; use " + String.join(", ", Depth.ofPauses())));
        return new PauseBody(Kind.of(depth), timeout(json));
    }

    public static PauseBody resume(byte[] body) {
        return new PauseBody(Kind.RESUME, timeout(tree(body)));
    }

    private static JsonTree tree(byte[] body) {
        return body.length == 0 ? new JsonTree(null) : JsonTree.parse(body);
    }

    private static Optional<Duration> timeout(JsonTree json) {
        if (!json.has(TIMEOUT)) {
            return Optional.empty();
        }
        if (!(json.at(TIMEOUT).value() instanceof Long millis) || millis < 1 || millis > LONGEST_MILLIS) {
            throw new SluiceException("bad " + TIMEOUT + "; write a whole number from 1 to " + LONGEST_MILLIS);
        }
        return Optional.of(Duration.ofMillis(millis));
    }

    /// What a body must be to mean this.
    public byte[] write() {
        return JsonBytes.of(json -> {
            json.writeStartObject();
            if (kind.isPause()) {
                json.writeStringProperty(DEPTH, kind.depth().word());
            }
            timeout.ifPresent(time -> json.writeNumberProperty(TIMEOUT, time.toMillis()));
            json.writeEndObject();
        });
    }
}
