/// Proof for the user: verify (do limits hold here?), bench (what does Sluice cost here?) and demo.
///
/// Owns: the probe, a small CUDA program under remote control, and everything that starts probes and judges what they
/// report. Must not know: the command line (it renders what is returned here) and how the library works inside; a check
/// sees only what a program, the region and the driver show. A class with `@SuppressWarnings("exports")` is public for its
/// neighbours in this module only.
module sluice.proof {
    requires transitive sluice.region;
    requires sluice.cuda;

    exports sluice.proof;
    exports sluice.proof.bench;
    exports sluice.proof.bench.compute;
    exports sluice.proof.bench.latency;
    exports sluice.proof.bench.lock;
    exports sluice.proof.checks;
    exports sluice.proof.demo;
    exports sluice.proof.soak;
    exports sluice.proof.stage;
}
