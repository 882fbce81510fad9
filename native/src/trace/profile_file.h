/* profile_file: text into files of a folder that others write too, at no cost to the host. */
#ifndef SL_PROFILE_FILE_H
#define SL_PROFILE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SL_PROFILE_FILE_NO_LOCK (-1)
#define SL_PROFILE_FILE_BUSY (-2)

/* Keeps other writers of the folder out. BUSY: another one did all this time. NO_LOCK: there is no such thing here. */
int sl_profile_file_lock(const char *folder, uint64_t patience_nanos);
void sl_profile_file_unlock(int lock);

/* False and errno when it cannot be done; then the file is as it was. */

/* Puts the text in the place of the file, so that a reader never sees a part of it. */
bool sl_profile_file_replace(const char *folder, const char *name, const char *text, size_t length);
/* Appends whole lines. afresh: the file holds lines of another program, which are removed. alone: no other process is writing now, so
 * half a line can be cut off. A killed process leaves one, or a full disk. */
bool sl_profile_file_append(const char *folder, const char *name, const char *lines, size_t length, bool afresh, bool alone);

#endif
