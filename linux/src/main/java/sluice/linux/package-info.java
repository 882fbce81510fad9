/// System calls, and files of other users.
///
/// Root's agent and tools look into folders that their users can change at any moment. What is checked by name and opened by name may be
/// two different files. So [sluice.linux.Folder] opens each file relative to a descriptor of its folder, follows no link, waits for nothing, and
/// checks owner, type, size and number of links on the descriptor that is then used. Nothing else in Sluice opens such files.
package sluice.linux;
