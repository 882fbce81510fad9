package sluice.agent.registration;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.unix.FileDescriptor;
import java.util.List;
import java.util.regex.Pattern;
import sluice.agent.os.RegisteringPeer;
import sluice.api.client.RunRegistration;
import sluice.linux.Descriptor;
import sluice.region.Region;
import sluice.region.layout.RegionLayout;
import sluice.region.place.SluiceException;

/// Answers one line of a process: `region LAYOUT LABEL` with `ok TENANT IDENTITY` and the descriptors of its limits and its ledger,
/// `limits LAYOUT LABEL` with the same and the limits alone, `board UUID` with `ok UUID` and the descriptor of that GPU's board, `run` as
/// [RunRegistration] says, or any with `no` and why, or with `busy` and when to come again.
final class RegistrationHandler implements OneLineProtocol {
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{32}");
    static final int LINE_BYTES = 4096;

    private final Registrar registrar;

    RegistrationHandler(Registrar registrar) {
        this.registrar = registrar;
    }

    @Override
    public String answer(ChannelHandlerContext context, RegisteringPeer peer, String line) {
        String[] words = line.split(" ", -1);
        if (words.length == 2 && words[0].equals("board") && UUID.matcher(words[1]).matches()) {
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
        if (words.length < 3 || words.length > 3 && !run || !run && !limitsOnly && !words[0].equals("region") || !RunRegistration.LABEL.matcher(words[2]).matches()) {
            throw new SluiceException("this is no request; is the library of this version?");
        }
        if (!words[1].equals(Integer.toString(RegionLayout.LAYOUT))) {
            throw new SluiceException("the library has layout " + (words[1].length() < 8 ? words[1] : "?") + " and the agent "
                    + RegionLayout.LAYOUT + "; use those that belong together");
        }
        if (run) {
            return RunRequests.answer(registrar, peer, words[2], List.of(words).subList(3, words.length));
        }
        RegisteredTenant tenant = limitsOnly ? registrar.find(peer, words[2]) : registrar.register(peer, words[2]);
        context.write(new FileDescriptor(tenant.limits()));
        if (!limitsOnly) {
            Descriptor ledger = Region.openLedger(tenant.file());
            context.write(new FileDescriptor(ledger.number())).addListener(written -> ledger.close());
        }
        return "ok " + tenant.name() + " " + peer.process().word() + "\n";
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
