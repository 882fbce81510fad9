/// `spec/*.api`: the entry points of CUDA and NVML, read, checked, and compared with the headers of a toolkit.
///
/// Must not know: the files that are generated from them.
package sluice.codegen.api;
