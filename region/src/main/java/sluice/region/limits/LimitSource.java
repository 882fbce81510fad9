package sluice.region.limits;

/// Where limits come from. A later source bounds the limits of an earlier one.
public enum LimitSource {
    /// The user who starts the job: options of `sluice run`, or variables of the library.
    COMMAND_LINE("the command line"),
    /// The administrator: the policy of the machine's agent.
    POLICY("the machine's policy");

    private final String words;

    LimitSource(String words) {
        this.words = words;
    }

    /// For people.
    public String words() {
        return words;
    }
}
