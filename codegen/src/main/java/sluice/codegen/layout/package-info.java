/// `spec/*.abi`: the layouts of shared files, read and checked, and the C structs, Java views and pages generated from them.
///
/// Must not know: the entry points of CUDA and NVML.
package sluice.codegen.layout;
