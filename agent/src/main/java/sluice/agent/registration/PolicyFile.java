package sluice.agent.registration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.region.place.SluiceException;

/// The policy file, read again when it was changed. A file with an error changes nothing.
final class PolicyFile {
    private final Path file;
    private Map<String, Object> seen;
    private Policy policy;

    /// Fails if the file has an error.
    PolicyFile(Path file) {
        this.file = file;
        seen = state();
        policy = Policy.read(file);
    }

    /// Of a machine without a policy.
    private PolicyFile(Policy policy) {
        file = Path.of("/nonexistent");
        seen = state();
        this.policy = policy;
    }

    static PolicyFile asAsked() {
        return new PolicyFile(new Policy(List.of(PolicyRule.AS_ASKED)));
    }

    /// Whether there is no policy, so that every job gets the limits that it asks for.
    boolean isAsAsked() {
        return now().rules().equals(List.of(PolicyRule.AS_ASKED));
    }

    synchronized Policy now() {
        return policy;
    }

    private Map<String, Object> state() {
        try {
            return Files.readAttributes(file, "unix:ino,size,lastModifiedTime");
        } catch (IOException e) {
            return Map.of();
        }
    }

    /// Checks whether it was changed. @return a message for people
    synchronized Optional<String> follow() {
        Map<String, Object> state = state();
        if (state.equals(seen)) {
            return Optional.empty();
        }
        seen = state;
        try {
            policy = Policy.read(file);
            return Optional.of("the policy was read again, " + policy.rules().size() + " rules; tenants that run keep their limits, sluice set changes them");
        } catch (SluiceException e) {
            return Optional.of("the policy that was read before still holds: " + e.getMessage());
        }
    }
}
