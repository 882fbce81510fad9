package sluice.agent.registration;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sluice.agent.os.RegisteringPeer;
import sluice.region.place.SluiceException;

/// The limits of each job: the lines of the policy file. The first line that fits a job applies.
///
/// @param rules in the order of the file
record Policy(List<PolicyRule> rules) {
    /// Reads a file. Reports all errors at once, with file and line.
    static Policy read(Path file) {
        List<PolicyRule> rules = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        int number = 0;
        for (String line : lines(file)) {
            number++;
            if (line.isBlank() || line.strip().startsWith("#")) {
                continue;
            }
            try {
                rules.add(PolicyRule.parse(line.strip()));
            } catch (SluiceException e) {
                problems.add(file + ":" + number + ": " + e.getMessage());
            }
        }
        if (problems.isEmpty() && rules.isEmpty()) {
            problems.add(file + ":1: there is no rule; write one, such as * -> memory=2g");
        }
        if (!problems.isEmpty()) {
            throw new SluiceException(String.join("\n", problems));
        }
        return new Policy(List.copyOf(rules));
    }

    private static List<String> lines(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines().toList();
        } catch (IOException e) {
            throw new SluiceException("cannot read the policy file " + file + " (" + SluiceException.reason(e)
                    + "); check its name and who may read it", e);
        }
    }

    Optional<PolicyRule> find(RegisteringPeer peer, String label) {
        return rules.stream().filter(rule -> rule.fits(peer, label)).findFirst();
    }
}
