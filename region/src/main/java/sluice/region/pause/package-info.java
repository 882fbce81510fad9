/// What a tenant was asked to do, how deep a pause goes, and how far each of its processes is with it.
///
/// Must not know: where these words lie in a file, who writes them, or how they are shown.
package sluice.region.pause;
