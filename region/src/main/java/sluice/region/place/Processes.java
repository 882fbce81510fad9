package sluice.region.place;

/// Checks which processes live. A check asks the kernel about each process; a caller that checks often may keep the answers.
public interface Processes {
    /// Asks every time.
    Processes BY_PROC = new Processes() {
        @Override
        public boolean isAlive(Identity process, long image) {
            return process.isAlive(image);
        }

        @Override
        public String commandLine(Identity process) {
            return process.commandLine();
        }
    };

    /// For one look at many tenants: asks once about each process that lives.
    static Processes once() {
        return new ProcessesOnce();
    }

    /// Whether this very process still runs the program that an image stands for; 0 stands for any.
    boolean isAlive(Identity process, long image);

    /// Its command line, for people; empty when it has ended or is another user's.
    String commandLine(Identity process);
}
