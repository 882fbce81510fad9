package sluice.agent.registration;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.unix.FileDescriptor;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import sluice.agent.os.RegisteringPeer;
import sluice.agent.reservoir.Reservoir;
import sluice.region.Tenant;
import sluice.region.place.SluiceException;

/// Answers `reservoir LAYOUT LABEL bytes=N held=NUMBER` of a process that needs N bytes of host memory in all. The answer is
/// `ok TENANT IDENTITY` with the descriptor of its memory, or `full N` with the most that it could have. held is the number of the file
/// that it uses now; 0 = none.
final class ReservoirRequests {
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

    private final Registrar registrar;
    private final Optional<Reservoir> reservoir;

    /// @param reservoir none: the agent has no host memory for jobs
    ReservoirRequests(Registrar registrar, Optional<Reservoir> reservoir) {
        this.registrar = registrar;
        this.reservoir = reservoir;
    }

    String answer(ChannelHandlerContext context, RegisteringPeer peer, String label, List<String> said) {
        Reservoir asked = reservoir.orElseThrow(() -> new SluiceException("the agent has no host memory for jobs; 'reservoir' in its config file gives it some"));
        RegisteredTenant tenant = registrar.find(peer, label);
        long limit = Tenant.read(tenant.file()).limits().host().reservoirBytes();
        Reservoir.Asker asker = new Reservoir.Asker(peer.process(), peer.uid(), tenant.file().toString(), limit, () -> needed(tenant));
        Reservoir.Grant answer = asked.ask(asker, number(said, "bytes"), number(said, "held"));
        if (answer.descriptor().isEmpty()) {
            return "full " + answer.leftBytes() + "\n";
        }
        context.write(new FileDescriptor(answer.descriptor().get()));
        return "ok " + tenant.name() + " " + peer.process().word() + " " + RegistrationHandler.FEATURES + "\n";
    }

    private static long needed(RegisteredTenant tenant) {
        try {
            return Tenant.read(tenant.file()).pause().host().reservoirBytes();
        } catch (SluiceException | InternalError e) {
            return 0;
        }
    }

    private static long number(List<String> said, String key) {
        return RegistrationHandler.value(said, key).filter(text -> NUMBER.matcher(text).matches()).map(Long::parseLong)
                .orElseThrow(() -> new SluiceException("a request for host memory says " + key + "=NUMBER; is the library of this version?"));
    }
}
