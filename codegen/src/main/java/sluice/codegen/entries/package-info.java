/// The files that are generated from `spec/*.api`: wrappers, tables and pages of entry points.
///
/// Must not know: how a spec is parsed, or the layouts of shared files.
package sluice.codegen.entries;
