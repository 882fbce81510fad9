/// The generator's command: reads all specs, and writes every source and page that is derived from them.
///
/// Must not know: the format of any one spec or output.
package sluice.codegen;
