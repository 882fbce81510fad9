/// System calls, and files of other users.
///
/// Root's agent and tools look into folders that their users can change at any moment. A name may stand for one file when it is checked,
/// and for another when it is opened. So [sluice.linux.Folder] opens each file relative to a descriptor of its folder, follows no link and
/// never waits. It checks owner, type, size and number of links on the descriptor that is then used. No other code in Sluice opens such
/// files. Must not know: what is in these files.
package sluice.linux;
