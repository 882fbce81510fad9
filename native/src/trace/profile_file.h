/* profile_file: writes text into files of a folder that other processes write too, without harm to the host program. */
#ifndef SL_PROFILE_FILE_H
#define SL_PROFILE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SL_PROFILE_FILE_NO_LOCK (-1)
#define SL_PROFILE_FILE_BUSY (-2)

/* Locks the folder against other writers. BUSY: another writer held the lock all this time. NO_LOCK: the folder cannot be locked. */
int sl_profile_file_lock(const char *folder, uint64_t patience_nanos);
void sl_profile_file_unlock(int lock);

/* False with errno: it failed, and the file did not change. */

/* Replaces the file by the text, so that a reader never sees a part of it. */
bool sl_profile_file_replace(const char *folder, const char *name, const char *text, size_t length);
/* Appends whole lines. afresh: first removes the lines of another program. alone: no other process is writing now, so half a line at the
 * end can be cut off; a killed process or a full disk leaves one. */
bool sl_profile_file_append(const char *folder, const char *name, const char *lines, size_t length, bool afresh, bool alone);

#endif
