package sluice.agent.metrics;

import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.agent.http.Answer;
import sluice.agent.http.Refusal;
import sluice.agent.http.Request;
import sluice.agent.http.Route;
import sluice.agent.machine.Machine;
import sluice.agent.machine.MachineLook;
import sluice.agent.metrics.MetricsScrape.ScrapedTenant;
import sluice.agent.part.AgentContext;
import sluice.agent.part.Part;
import sluice.agent.settings.Setting;
import sluice.agent.settings.Settings;
import sluice.region.place.SluiceException;

/// `GET /metrics`, for Prometheus. It keeps no state: counters are those of the regions, so they continue when the agent is restarted.
public final class Metrics implements Part {
    static final Setting<List<String>> ALSO = Setting.list("metrics-also", "", Metrics::others,
            "names of other exporters that /metrics has too: hami, alnair, or both with a comma between them");
    static final Setting<Integer> MOST = Setting.number("metrics-tenants", "256", 1, 10_000, "the most tenants that /metrics tells of");
    static final Setting<String> NODE = new Setting<>("metrics-node", "",
            "name of this machine in the names of other exporters; if empty the host's", text -> text);

    /// A scrape uses a look of at most this age, and otherwise makes a new one.
    private static final Duration RECENT = Duration.ofMillis(1500);
    private static final int USUAL_BYTES = 64 * 1024;
    private static final List<String> OTHERS = List.of("hami", "alnair");

    private final List<MetricsSource> sources = new ArrayList<>();
    private final Map<String, MetricsSource> others = new HashMap<>();
    private final MetricsOfAgent agent = new MetricsOfAgent();
    private MetricsChoice choice;
    private Machine machine;

    private static String others(String text) {
        if (!OTHERS.contains(text)) {
            throw new SluiceException("'" + text + "' is not known; write hami or alnair");
        }
        return text;
    }

    @Override
    public List<Setting<?>> settings() {
        return List.of(ALSO, MOST, NODE);
    }

    @Override
    public void start(AgentContext context) {
        Settings settings = context.settings();
        String node = settings.get(NODE).isEmpty() ? hostName() : settings.get(NODE);
        choice = new MetricsChoice(settings.get(MOST));
        machine = context.machine();
        machine.listen(choice::see);
        machine.listen(agent::see);
        agent.leftOut(machine::leftOut);
        sources.addAll(own(agent));
        sources.add(new MetricsOfParts(context.metrics()));
        OTHERS.forEach(name -> others.put(name, other(name, node)));
        settings.get(ALSO).stream().distinct().forEach(name -> sources.add(others.get(name)));
    }

    static List<MetricsSource> own(MetricsOfAgent agent) {
        return List.of(new MetricsOfTenants(), new MetricsOfCalls(), new MetricsOfGpus(), agent, new MetricsOfPauses());
    }

    static MetricsSource other(String name, String node) {
        return name.equals("hami") ? new MetricsHami(node) : new MetricsAlnair(node);
    }

    @Override
    public List<Route> routes() {
        return List.of(Route.get("/metrics", "Metrics for Prometheus, as text or in the OpenMetrics format.", this::scrape)
                .with(new Route.Parameter("names", "hami or alnair: the metrics of that exporter alone")));
    }

    private Answer scrape(Request request) throws IOException {
        long began = System.nanoTime();
        MachineLook last = machine.last();
        boolean recent = last.at().plus(RECENT).isAfter(Instant.now());
        MachineLook look = (recent ? last : machine.fresh()).seenBy(request.caller());
        MetricsChoice.Chosen chosen = choice.choose(look);
        MetricsScrape scrape = new MetricsScrape(look,
                chosen.tenants().stream().map(ScrapedTenant::of).toList(), chosen.leftOut());
        MetricsPage page = new MetricsPage();
        chosen(request).forEach(source -> source.write(scrape, page));
        ExpositionFormatWriter writer = ExpositionFormats.init().findWriter(request.header("accept").orElse(""));
        ByteArrayOutputStream body = new ByteArrayOutputStream(USUAL_BYTES);
        writer.write(body, page.snapshots());
        agent.scraped(System.nanoTime() - began);
        return Answer.of(writer.getContentType(), body.toByteArray());
    }

    private List<MetricsSource> chosen(Request request) {
        Optional<String> names = request.query("names");
        if (names.isPresent() && !others.containsKey(names.get())) {
            throw new Refusal(400, "names of '" + names.get() + "' are not known; write hami or alnair");
        }
        return names.map(others::get).map(List::of).orElse(sources);
    }

    private static String hostName() {
        try (InputStream name = Files.newInputStream(Path.of("/proc/sys/kernel/hostname"))) {
            return new String(name.readAllBytes()).strip();
        } catch (IOException e) {
            return "";
        }
    }
}
