/// The region of a tenant, seen from Java.
///
/// Owns: the region file (create, open, validate), the runtime directory it lies in, who is alive, sizes and limits as
/// people write them, and snapshots of tenants. Must not know: CUDA, the command line, or how any of it is shown.
module sluice.region {
    requires transitive sluice.linux;
    exports sluice.region;
}
