/* lives: which processes of other pid namespaces live, and by which number a reader knows them.
 *
 * /proc shows a reader no process of a sibling namespace, and a process of a child namespace under another number. So a process in a
 * namespace of its own locks one byte of a file beside the state file, at the place of its identity. The kernel frees the lock when the process
 * ends, and translates its holder's number for each reader. Processes of the first namespace need no lock: /proc shows them. */
#ifndef SIM_LIVES_H
#define SIM_LIVES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The first pid namespace of a machine has 0; others have one of 511 numbers, by their inodes. */
unsigned sim_lives_namespace(void);
/* This process lives, from now on and until it ends. Repeated, it changes nothing. */
void sim_lives_begin(uint64_t identity);
/* *pid is 0 if this process has no number for the other. Without the file, every process counts as alive. */
bool sim_lives_has(uint64_t identity, pid_t *pid);

#endif
