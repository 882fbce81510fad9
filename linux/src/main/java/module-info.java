/// The kernel's own interface, as far as Java has no name for it.
///
/// Owns: every binding of a system call, and all access to files that other users can write. Must not know: regions, tenants, CUDA.
module sluice.linux {
    exports sluice.linux;
}
