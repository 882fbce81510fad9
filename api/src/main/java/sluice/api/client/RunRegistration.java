package sluice.api.client;

import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import sluice.region.layout.RegionLayout;
import sluice.region.layout.SluiceVersion;
import sluice.region.limits.GivenLimits;
import sluice.region.limits.OnError;
import sluice.region.place.SluiceException;

/// How `sluice run` registers at the machine's agent. It sends `run LAYOUT LABEL name=NAME command=TEXT memory=4g weight=3 ...`. The agent
/// answers `ok NAME limited=yes on-error=fail`, and the limits that the policy lowered.
///
/// The process that asks becomes the job. So the agent makes the tenant with its identity, which `execve` does not change.
public final class RunRegistration {
    /// The file beside the socket that says what jobs without an answer do. It stays when the agent ends.
    public static final String ON_ERROR_FILE = "on-error";
    private static final int WRITABLE_BY_OTHERS = 022;
    private static final long PATIENCE_NANOS = 20_000_000_000L;
    /// How long an agent may be unreachable: if no agent has been there, and if one has.
    private static final long NOBODY_NANOS = 1_000_000_000L;
    private static final long RESTART_NANOS = 5_000_000_000L;
    private static final int HUNG_UP_MILLIS = 100;
    private static final int MOST_BUSY_MILLIS = 2000;
    private static final int ANSWER_BYTES = 4096;
    private static final int COMMAND_BYTES = 511;
    private static final String NO_LABEL = "-";
    public static final Pattern LABEL = Pattern.compile("[A-Za-z0-9._:/=@+-]{1,63}");

    private final Path socket;

    /// The agent's answer.
    ///
    /// @param limited whether any limit holds
    /// @param less    the limits that the job asked for and did not get, as text for people; empty: it got all
    public record Granted(String tenant, boolean limited, OnError onError, String less) {}

    /// The agent gave no answer.
    public static final class Unanswered extends Exception {
        private static final long serialVersionUID = 1L;

        Unanswered(String message) {
            super(message, null, false, false);
        }
    }

    private RunRegistration(Path socket) {
        this.socket = socket;
    }

    /// The agent at a socket that the user named.
    public static RunRegistration at(Path socket) {
        return new RunRegistration(socket);
    }

    /// The machine's agent, if it listens or has written what jobs do without it. Its folder belongs to root.
    public static Optional<RunRegistration> ofMachine() {
        return ofMachine(AgentSockets.REGISTER_OF_ALL);
    }

    public static Optional<RunRegistration> ofMachine(Path socket) {
        RunRegistration agent = new RunRegistration(socket);
        return isOfRoot(socket) || agent.word().isPresent() ? Optional.of(agent) : Optional.empty();
    }

    private static boolean isOfRoot(Path file) {
        try {
            return (Integer) Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS) == 0;
        } catch (IOException e) {
            return false;
        }
    }

    public Path socket() {
        return socket;
    }

    /// Whether a job without an answer must not run; the library reads the same file.
    public boolean mustFail() {
        return word().equals(Optional.of(OnError.FAIL.word()));
    }

    private Optional<String> word() {
        Path file = socket.resolveSibling(ON_ERROR_FILE);
        try {
            Map<String, Object> attributes = Files.readAttributes(file, "unix:uid,mode,isRegularFile,size", LinkOption.NOFOLLOW_LINKS);
            int owner = (Integer) attributes.get("uid");
            Path known = Files.exists(socket, LinkOption.NOFOLLOW_LINKS) ? socket : socket.toAbsolutePath().getParent();
            boolean theirs = owner == 0 || owner == (Integer) Files.getAttribute(known, "unix:uid", LinkOption.NOFOLLOW_LINKS);
            boolean good = theirs && (Boolean) attributes.get("isRegularFile") && ((Integer) attributes.get("mode") & WRITABLE_BY_OTHERS) == 0;
            return good && (Long) attributes.get("size") < 16 ? Optional.of(Files.readString(file).strip()) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /// Makes this process a tenant. Waits 20 s at most. Throws a [SluiceException] if the agent refuses.
    public Granted register(String label, String name, String command, GivenLimits asked) throws Unanswered {
        String said = label == null || label.isEmpty() ? NO_LABEL : label;
        if (!LABEL.matcher(said).matches()) {
            throw new SluiceException("SLUICE_LABEL=" + said + ": a label is 1 to 63 of A-Z a-z 0-9 . _ : / = @ + -");
        }
        StringBuilder line = new StringBuilder("run ").append(RegionLayout.LAYOUT).append(' ').append(said)
                .append(" name=").append(name).append(" command=").append(encoded(command))
                .append(" features=").append(Long.toHexString(RegionLayout.FEATURES)).append(" version=").append(SluiceVersion.TEXT);
        asked.words().forEach((limit, value) -> line.append(' ').append(limit.word()).append('=').append(value.replaceAll("\\s", "")));
        String[] words = answer(line.append('\n').toString()).split(" ", 5);
        if (words.length < 4 || !words[0].equals("ok")) {
            throw new Unanswered("the agent at " + socket + " does not answer as expected; is it of this version?");
        }
        return new Granted(words[1], words[2].equals("limited=yes"), OnError.parse(words[3].replace("on-error=", "")), words.length > 4 ? words[4] : "");
    }

    private String answer(String line) throws Unanswered {
        long began = System.nanoTime();
        long deadline = began + PATIENCE_NANOS;
        String problem = "does not answer";
        while (System.nanoTime() - deadline < 0) {
            String answer = "";
            try {
                answer = exchange(line, deadline);
            } catch (IOException e) {
                problem = "does not answer (" + e.getMessage() + ")";
                boolean nobody = e instanceof ConnectException || !Files.exists(socket, LinkOption.NOFOLLOW_LINKS);
                if (nobody && System.nanoTime() - began > (word().isPresent() ? RESTART_NANOS : NOBODY_NANOS)) {
                    break;
                }
            }
            boolean busy = answer.startsWith("busy ");
            if (answer.startsWith("no ")) {
                throw new SluiceException("the machine's agent gives this job no limits: " + answer.substring(3).strip());
            }
            if (answer.endsWith("\n") && !busy) {
                return answer.strip();
            }
            problem = busy ? "has too much to do" : problem;
            pause(busy ? millis(answer) : HUNG_UP_MILLIS);
        }
        throw new Unanswered("the machine's agent at " + socket + " " + problem);
    }

    private static int millis(String busy) {
        String number = busy.substring(5).strip();
        boolean good = !number.isEmpty() && number.length() < 6 && number.chars().allMatch(Character::isDigit);
        return good ? Math.clamp(Integer.parseInt(number), 1, MOST_BUSY_MILLIS) : HUNG_UP_MILLIS;
    }

    /// The bytes until the agent closed the connection, or until the deadline. It uses no extra thread, because every job waits for it.
    private String exchange(String line, long deadline) throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.configureBlocking(false);
            if (!channel.connect(UnixDomainSocketAddress.of(socket))) {
                throw new IOException("too many wait for it");
            }
            channel.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.US_ASCII)));
            ByteBuffer answer = ByteBuffer.allocate(ANSWER_BYTES);
            int wait = 1;
            for (int got = 0; got >= 0 && answer.hasRemaining() && System.nanoTime() - deadline < 0;) {
                got = channel.read(answer);
                if (got == 0) {
                    pause(wait);
                    wait = Math.min(wait + 1, 20);
                }
            }
            return StandardCharsets.US_ASCII.decode(answer.flip()).toString();
        }
    }

    private static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String encoded(String command) {
        StringBuilder text = new StringBuilder();
        byte[] bytes = command.getBytes(StandardCharsets.UTF_8);
        for (int at = 0; at < Math.min(bytes.length, COMMAND_BYTES); at++) {
            char c = (char) (bytes[at] & 0xff);
            boolean plain = c < 0x80 && (Character.isLetterOrDigit(c) || "/._-=,:".indexOf(c) >= 0);
            text.append(plain ? String.valueOf(c) : "%" + Integer.toHexString(c | 0x100).substring(1));
        }
        return text.toString();
    }
}
