/// Traces: the calls of a tenant, as the library recorded them.
///
/// Owns: the folder of a trace (rings, names, processes), its events in Java, the recorder, and the outputs of a trace: Perfetto,
/// Chrome's JSON, the report. Must not know: CUDA, the command line.
@SuppressWarnings("module") // sluice.cli is compiled later
module sluice.trace {
    requires transitive sluice.region;

    exports sluice.trace.export to sluice.cli;
    exports sluice.trace.read to sluice.cli;
    exports sluice.trace.record to sluice.cli;
    exports sluice.trace.report to sluice.cli;
    exports sluice.trace.report.output to sluice.cli;
}
