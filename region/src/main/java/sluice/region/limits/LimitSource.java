package sluice.region.limits;

/// Where limits come from. The policy bounds the limits of the command line.
public enum LimitSource {
    /// The user who starts the job: options of `sluice run`, or variables of the library.
    COMMAND_LINE("the command line"),
    /// The administrator: the policy of the machine's agent.
    POLICY("the machine's policy"),
    /// The cluster: a claim that it has accounted for. No policy bounds it.
    CLAIM("the cluster's claim");

    private final String words;

    LimitSource(String words) {
        this.words = words;
    }

    /// For people.
    public String words() {
        return words;
    }
}
