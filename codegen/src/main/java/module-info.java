/// The generator: reads the specs and writes C, Java and reference pages from them.
///
/// It owns the formats of `spec/*.api` and `spec/*.abi`, and everything that can be derived from them. It must not
/// know what a hook does, how the simulated driver works or how a tool shows a region; nothing depends on it at run time.
module sluice.codegen {}
