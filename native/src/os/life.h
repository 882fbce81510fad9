/* life: whether a process that took a place in a shared file still lives, as seen from any pid, time or user namespace.
 *
 * A place is a byte of the file, by custom the first of the record that the process owns. To take it, the process locks this byte through
 * an open file description of its own (F_OFD_SETLK). It maps one page through the same description. Then it closes the descriptor: the
 * mapping keeps the description, and with it the lock. The kernel unlocks the byte when the mapping goes: when the process ends in any way,
 * is killed, or calls execve. A fork does not copy the mapping (MADV_DONTFORK), so a child takes places of its own. No descriptor stays
 * open for a sign, so a program that closes all descriptors does not lose it.
 *
 * The rule for a record with an owner word: take the place first, then write `sign` = the new owner word, then claim the owner word by
 * compare-and-swap; end the sign if that fails. Then for every reader, also after a crash at any step:
 *   sign == owner   the lock alone decides: SL_LIFE_ALIVE lives, SL_LIFE_ENDED is dead.
 *   sign != owner, or SL_LIFE_UNKNOWN: the owner could take no place. Only a process of the same pid namespace can judge it, by /proc.
 * A process never asks about a place that it has taken itself. */
#ifndef SL_LIFE_H
#define SL_LIFE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    SL_LIFE_UNKNOWN, /* the kernel or the file system does not say, or the descriptor is closed */
    SL_LIFE_ENDED,
    SL_LIFE_ALIVE,
} sl_life_t;

/* Takes a place in the file of the descriptor; gives the sign, or NULL: another process has it, or it cannot be taken here (no /proc, or the
 * file may not be opened again for writing). Keeps errno. */
void *sl_life_begin(int fd, uint64_t place);
/* Gives the place back. NULL does nothing. */
void sl_life_end(void *sign);
/* Whether any process has the place; by any descriptor of the file. One system call. Keeps errno. */
sl_life_t sl_life_of(int fd, uint64_t place);

/* A file about whose places this process asks often. The program may close the descriptor, and its number may then name another file: then
 * every answer is SL_LIFE_UNKNOWN. */
typedef struct {
    int fd; /* -1: there is none */
    uint64_t device, inode;
} sl_life_file_t;

/* Opens the file of a descriptor again. */
sl_life_file_t sl_life_open(int fd);
sl_life_t sl_life_in(const sl_life_file_t *file, uint64_t place);
/* Closes it if it is still that file. */
void sl_life_close(sl_life_file_t *file);

#endif
