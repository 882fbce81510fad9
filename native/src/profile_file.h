/* profile_file: text into files of a folder that others write too, at no cost to the host. */
#ifndef SL_PROFILE_FILE_H
#define SL_PROFILE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Keeps other writers of the folder out, for as long as they are patient; less than 0: it cannot be had, go on without. */
int sl_profile_file_lock(const char *folder);
void sl_profile_file_unlock(int lock);

/* False and errno when it cannot be done; then the file is as it was. */

/* Puts the text in the place of the file, so that a reader never sees a part of it. */
bool sl_profile_file_replace(const char *folder, const char *name, const char *text, size_t length);
/* Adds whole lines to the end. afresh: what is in the file is of somebody else. alone: nobody else writes just now, so that
 * half a line can be cut off, be it of one who was killed or of ours on a full disk. */
bool sl_profile_file_append(const char *folder, const char *name, const char *lines, size_t length, bool afresh, bool alone);

#endif
