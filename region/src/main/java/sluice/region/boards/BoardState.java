package sluice.region.boards;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// The state of a board at one moment. Moments are by the clock of `System.nanoTime()`.
///
/// @param uuid       of the GPU, as nvidia-smi writes it
/// @param readNanos  when it was read
/// @param beganNanos when the turn under way began
/// @param endsNanos  when it ends, if others want the GPU then
/// @param handOvers  turns given by their holders
/// @param seized     turns taken from holders that were idle or dead
/// @param tenants    the live ones
public record BoardState(
        Path file,
        String uuid,
        long readNanos,
        long beganNanos,
        long endsNanos,
        long handOvers,
        long seized,
        List<BoardTenant> tenants) {

    /// The tenant whose region was made at this moment.
    public Optional<BoardTenant> tenant(long createdNanos) {
        return tenants.stream().filter(tenant -> tenant.key() == createdNanos).findFirst();
    }
}
