package sluice.trace.export;

import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/// The JSON of Chrome's trace viewer, which many tools read. The format has processes and threads only. So every other track is a thread
/// with a number that no thread can have. Tracks without a process are in a process 0.
final class ChromeWriter implements TimelineWriter {
    private static final int NO_THREAD = 1 << 24;
    /// A colour name of the viewer. All other slices get a colour by their name.
    private static final String WAIT_COLOUR = "thread_state_iowait";

    private final Writer out;
    private final StringBuilder line = new StringBuilder();
    private boolean first = true;

    ChromeWriter(OutputStream stream) throws IOException {
        out = new OutputStreamWriter(stream, StandardCharsets.UTF_8);
        out.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    }

    @Override
    public void declare(Track track) throws IOException {
        String name = track.parent() != null && track.parent().kind() == Track.Kind.GROUP
                ? track.parent().name() + " " + track.name() : track.name();
        switch (track.kind()) {
            case GROUP -> meta("process_name", 0, 0, "GPUs");
            case PROCESS -> meta("process_name", track.pid(), 0, track.name());
            case THREAD, SLICES -> meta("thread_name", track.pid(), thread(track), name);
            case BYTES -> { }
        }
    }

    private void meta(String what, int pid, int tid, String name) throws IOException {
        open("M", pid, tid).append(",\"name\":\"").append(what).append("\",\"args\":{\"name\":");
        text(name).append("}}");
        write();
    }

    private static int thread(Track track) {
        return track.kind() == Track.Kind.THREAD ? track.tid() : NO_THREAD + track.number();
    }

    @Override
    public void begin(Track track, long nanos, String category, String name, Details details) throws IOException {
        event("B", track, nanos, category, name, details);
    }

    @Override
    public void end(Track track, long nanos) throws IOException {
        open("E", track.pid(), thread(track));
        time(nanos).append('}');
        write();
    }

    @Override
    public void mark(Track track, long nanos, String category, String name, Details details) throws IOException {
        event("i", track, nanos, category, name, details);
    }

    private void event(String phase, Track track, long nanos, String category, String name, Details details) throws IOException {
        open(phase, track.pid(), thread(track));
        time(nanos).append(",\"cat\":");
        text(category).append(",\"name\":");
        text(name);
        if (phase.equals("i")) {
            line.append(",\"s\":\"t\"");
        }
        if (category.equals(WAIT)) {
            line.append(",\"cname\":\"").append(WAIT_COLOUR).append('"');
        }
        if (details.size() > 0) {
            line.append(",\"args\":{");
            for (int at = 0; at < details.size(); at++) {
                line.append(at == 0 ? "" : ",");
                text(details.key(at)).append(':');
                if (details.value(at) instanceof String value) {
                    text(value);
                } else {
                    line.append(details.value(at));
                }
            }
            line.append('}');
        }
        line.append('}');
        write();
    }

    @Override
    public void bytes(Track track, long nanos, long bytes) throws IOException {
        open("C", track.pid(), 0);
        time(nanos).append(",\"name\":");
        text(track.parent() == null ? track.name() : track.parent().name() + " " + track.name());
        line.append(",\"args\":{\"bytes\":").append(bytes).append("}}");
        write();
    }

    private StringBuilder open(String phase, int pid, int tid) {
        line.setLength(0);
        return line.append(first ? "\n" : ",\n").append("{\"ph\":\"").append(phase).append("\",\"pid\":").append(pid).append(",\"tid\":").append(tid);
    }

    /// Microseconds with three digits behind the point.
    private StringBuilder time(long nanos) {
        line.append(",\"ts\":").append(nanos / 1000).append('.');
        long rest = nanos % 1000;
        return line.append(rest < 100 ? "0" : "").append(rest < 10 ? "0" : "").append(rest);
    }

    private StringBuilder text(String text) {
        line.append('"');
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == '"' || c == '\\') {
                line.append('\\').append(c);
            } else if (c < ' ') {
                line.append(String.format("\\u%04x", (int) c));
            } else {
                line.append(c);
            }
        }
        return line.append('"');
    }

    private void write() throws IOException {
        out.append(line);
        first = false;
    }

    @Override
    public void close() throws IOException {
        out.write("\n]}\n");
        out.close();
    }
}
