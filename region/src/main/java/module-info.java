/// The region of a tenant and the board of a GPU, seen from Java.
///
/// Owns: the files (create, open, validate), their runtime directory, the check which processes live, the table of limits, snapshots of
/// tenants and boards. Must not know: CUDA, the command line, or how any of it is shown.
module sluice.region {
    requires transitive sluice.linux;

    exports sluice.region;
    exports sluice.region.boards;
    exports sluice.region.calls;
    exports sluice.region.layout;
    exports sluice.region.limits;
    exports sluice.region.pause;
    exports sluice.region.place;
    exports sluice.region.restore;
}
