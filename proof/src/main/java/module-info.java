/// Proof for the user: verify (do limits hold here?), bench (what does Sluice cost here?) and demo.
///
/// Owns: the probe, a small CUDA program under remote control, and all code that starts probes and judges their reports. Must not know: the
/// command line, which renders the results, and the inside of the library. A check uses only what a program, the region and the driver
/// show. A class with `@SuppressWarnings("exports")` is public for other packages of this module only.
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
