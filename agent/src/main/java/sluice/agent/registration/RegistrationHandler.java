package sluice.agent.registration;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.unix.FileDescriptor;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import sluice.agent.os.RegisteringPeer;
import sluice.agent.reservoir.Reservoir;
import sluice.api.client.RunRegistration;
import sluice.linux.Descriptor;
import sluice.region.Region;
import sluice.region.layout.RegionLayout;
import sluice.region.layout.SluiceVersion;
import sluice.region.place.SluiceException;

/// Answers one line of a process:
/// - `region LAYOUT LABEL`: `ok TENANT IDENTITY`, with descriptors of limits and ledger. `limits LAYOUT LABEL`: the same, with the limits alone.
/// - `board UUID`: `ok UUID`, with a descriptor of the GPU's board.
/// - `run`: see [RunRegistration]. `reservoir`: see [ReservoirRequests].
/// - Any of them: `no` and the reason, or `busy` and when to ask again.
///
/// Words KEY=VALUE may follow, in requests and answers; a key that the other side does not know is ignored. Both say `features=HEX`, the bits of the
/// region's features that they know, and `version=`, for messages.
final class RegistrationHandler implements OneLineProtocol {
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{32}");
    private static final Pattern HEX = Pattern.compile("[0-9a-f]{1,16}");
    private static final Pattern VERSION = Pattern.compile("[A-Za-z0-9.+-]{1,39}");
    /// The agent's own words in an answer.
    static final String FEATURES = "features=" + Long.toHexString(RegionLayout.FEATURES) + " version=" + SluiceVersion.TEXT;
    static final int LINE_BYTES = 4096;

    private final Registrar registrar;
    private final ReservoirRequests reservoir;

    RegistrationHandler(Registrar registrar, Optional<Reservoir> reservoir) {
        this.registrar = registrar;
        this.reservoir = new ReservoirRequests(registrar, reservoir);
    }

    @Override
    public String answer(ChannelHandlerContext context, RegisteringPeer peer, String line) {
        String[] words = line.split(" ", -1);
        if (words.length >= 2 && words[0].equals("board") && UUID.matcher(words[1]).matches()) {
            HandedBoards.Handed board = registrar.board(peer, words[1]);
            context.write(new FileDescriptor(board.descriptor().number())).addListener(written -> {
                if (!board.stays()) {
                    board.descriptor().close();
                }
            });
            return "ok " + words[1] + "\n";
        }
        boolean limitsOnly = words[0].equals("limits");
        boolean run = words[0].equals("run");
        boolean memory = words[0].equals("reservoir");
        if (words.length < 3 || !run && !memory && !limitsOnly && !words[0].equals("region") || !RunRegistration.LABEL.matcher(words[2]).matches()) {
            throw new SluiceException("this is no request; is the library of this version?");
        }
        List<String> said = List.of(words).subList(3, words.length);
        checkVersion(words[1], said);
        if (run) {
            return RunRequests.answer(registrar, peer, words[2], said);
        }
        if (memory) {
            return reservoir.answer(context, peer, words[2], said);
        }
        RegisteredTenant tenant = limitsOnly ? registrar.find(peer, words[2]) : registrar.register(peer, words[2]);
        context.write(new FileDescriptor(tenant.limits()));
        if (!limitsOnly) {
            Descriptor ledger = Region.openLedger(tenant.file());
            context.write(new FileDescriptor(ledger.number())).addListener(written -> ledger.close());
        }
        return "ok " + tenant.name() + " " + peer.process().word() + " " + FEATURES + "\n";
    }

    private static void checkVersion(String layout, List<String> said) {
        String version = value(said, "version").filter(text -> VERSION.matcher(text).matches()).orElse("?");
        if (!layout.equals(Integer.toString(RegionLayout.LAYOUT))) {
            throw new SluiceException("the library has layout " + (layout.length() < 8 ? layout : "?") + " (Sluice " + version + ") and the agent "
                    + RegionLayout.LAYOUT + " (Sluice " + SluiceVersion.TEXT + "); use those that belong together");
        }
        long known = value(said, "features").filter(text -> HEX.matcher(text).matches()).map(text -> Long.parseUnsignedLong(text, 16)).orElse(0L);
        long unknown = RegionLayout.FEATURES_REQUIRED & ~known;
        if (unknown != 0) {
            int bit = Long.numberOfTrailingZeros(unknown);
            throw new SluiceException("the library (Sluice " + version + ") does not know '" + RegionLayout.FEATURE_NAMES.split(" ")[bit]
                    + "', which the agent's regions need; use that of Sluice " + SluiceVersion.TEXT);
        }
    }

    static Optional<String> value(List<String> said, String key) {
        return said.stream().filter(word -> word.startsWith(key + "=")).map(word -> word.substring(key.length() + 1)).findFirst();
    }

    @Override
    public String refusal(String reason) {
        return "no " + reason + "\n";
    }

    @Override
    public String busy(int millis) {
        return "busy " + millis + "\n";
    }
}
