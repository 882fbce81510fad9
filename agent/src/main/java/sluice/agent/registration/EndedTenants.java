package sluice.agent.registration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import sluice.region.Region;

/// The last registered tenants of each user that have ended. Users want to look at them for a while. But a user that starts jobs all the
/// time must not fill the folder of all regions.
final class EndedTenants {
    private static final int MOST_OF_A_USER = 32;

    private final Map<Long, Deque<Path>> files = new HashMap<>();

    void add(RegisteredTenant tenant) {
        Deque<Path> ofUser = files.computeIfAbsent(tenant.uid(), added -> new ArrayDeque<>());
        ofUser.addLast(tenant.file());
        while (ofUser.size() > MOST_OF_A_USER) {
            delete(ofUser.removeFirst());
        }
    }

    /// Before another tenant has the file.
    void forget(Path file) {
        files.values().forEach(ofUser -> ofUser.remove(file));
        files.values().removeIf(Deque::isEmpty);
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
            Files.deleteIfExists(Region.ledger(file));
        } catch (IOException e) {
            // It is swept later.
        }
    }
}
