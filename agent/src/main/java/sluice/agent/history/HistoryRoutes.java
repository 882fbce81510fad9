package sluice.agent.history;

import java.io.IOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import sluice.agent.history.SeriesTable.Series;
import sluice.agent.http.Answer;
import sluice.agent.http.Refusal;
import sluice.agent.http.Request;
import sluice.agent.http.Route;
import tools.jackson.core.JsonGenerator;

/// Serves the history: for each series a point for each step that has samples.
public final class HistoryRoutes {
    private static final long USUAL_SECONDS = 600;
    private static final long USUAL_POINTS = 300;
    private static final long MOST_POINTS = 2000;
    private static final long FARTHEST = 1L << 40;
    private static final int MOST_IN_ALL = 100_000;

    private final History history;

    public HistoryRoutes(History history) {
        this.history = history;
    }

    public List<Route> routes() {
        return List.of(Route.get("/v1/history", "Memory and GPU time of GPUs and tenants over time. A point is second, used bytes, "
                + "limit in bytes, thousandths of GPU time got (-1: not known), calls submitted per second, thousandths of time waited.",
                this::history).with(
                        new Route.Parameter("from", "second since 1970, or less than 0: so many seconds ago; 600 s ago if not given"),
                        new Route.Parameter("to", "second since 1970, or 0 or less: so many seconds ago; now if not given"),
                        new Route.Parameter("step", "seconds for which one point stands; from 10 on the thinned history is used"),
                        new Route.Parameter("tenant", "only the series of this one; empty: only those of GPUs")));
    }

    private Answer history(Request request) throws IOException {
        long now = Instant.now().getEpochSecond();
        long from = second(request, "from", -USUAL_SECONDS, now);
        long to = second(request, "to", 0, now);
        long step = number(request, "step", Math.max(1, (to - from) / USUAL_POINTS));
        if (to < from || step < 1 || (to - from) / step > MOST_POINTS) {
            throw new Refusal(400, "from " + from + " to " + to + " in steps of " + step + " s is no span of at most " + MOST_POINTS + " points");
        }
        Map<Series, Map<Long, Sums>> points = new LinkedHashMap<>();
        int[] count = new int[1];
        history.read(step >= History.COARSE_SECONDS, from, to, (series, sample) -> {
            boolean seen = series.tenant().isEmpty() || request.caller().sees(series.uid());
            if (seen && request.query("tenant").map(series.tenant()::equals).orElse(true)) {
                points.computeIfAbsent(series, added -> new TreeMap<>())
                        .computeIfAbsent(sample.second() - Math.floorMod(sample.second() - from, step), added -> {
                            count[0]++;
                            return new Sums();
                        }).add(sample);
            }
            if (count[0] > MOST_IN_ALL) {
                throw new Refusal(400, "these are more than " + MOST_IN_ALL + " points; ask for one tenant, or a larger step");
            }
        });
        return Answer.json(json -> write(json, from, to, step, points));
    }

    private static void write(JsonGenerator json, long from, long to, long step, Map<Series, Map<Long, Sums>> points) {
        json.writeStartObject();
        json.writeNumberProperty("from", from);
        json.writeNumberProperty("to", to);
        json.writeNumberProperty("step", step);
        json.writeArrayPropertyStart("series");
        points.forEach((series, sums) -> {
            json.writeStartObject();
            json.writeStringProperty("tenant", series.tenant());
            json.writeNumberProperty("uid", series.uid());
            json.writeNumberProperty("createdNanos", series.createdNanos());
            json.writeNumberProperty("gpu", series.gpu());
            json.writeStringProperty("uuid", series.uuid());
            json.writeArrayPropertyStart("points");
            sums.forEach((second, sum) -> point(json, sum.sample(0, second)));
            json.writeEndArray();
            json.writeEndObject();
        });
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void point(JsonGenerator json, Sample sample) {
        json.writeStartArray();
        json.writeNumber(sample.second());
        json.writeNumber(sample.usedBytes());
        json.writeNumber(sample.limitBytes());
        json.writeNumber(sample.gotPermille());
        json.writeNumber(sample.submittedPerSecond());
        json.writeNumber(sample.waitedPermille());
        json.writeEndArray();
    }

    private static long second(Request request, String name, long usual, long now) {
        long given = number(request, name, usual);
        return given <= 0 ? now + given : given;
    }

    private static long number(Request request, String name, long usual) {
        String text = request.query(name).orElse(Long.toString(usual));
        try {
            long number = Long.parseLong(text);
            if (number > -FARTHEST && number < FARTHEST) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new Refusal(400, "bad " + name + " '" + text + "'; write a number of seconds");
    }
}
