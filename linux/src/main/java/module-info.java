/// The kernel's interface, as far as Java has no API for it.
///
/// Owns: every binding of a system call, and all access to files that other users can write. Must not know: regions, tenants, CUDA.
module sluice.linux {
    exports sluice.linux;
}
