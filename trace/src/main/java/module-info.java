/// What the library recorded of a tenant's calls.
///
/// Owns: the folder of a trace (rings, names, processes), its events as Java sees them, the recorder, and what is made of a
/// trace: Perfetto, Chrome's JSON, the report. Must not know: CUDA, the command line.
module sluice.trace {
    requires transitive sluice.region;

    exports sluice.trace;
}
