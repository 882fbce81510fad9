/// Where the files of tenants lie, and which processes are alive.
///
/// Must not know: what is in a region or on a board.
package sluice.region.place;
