/* fork: the child of a fork forgets what the library knows about its parent.
 *
 * A file that keeps state of the process writes SL_FORK_FORGETS(function). The macro puts the function into a section of the library,
 * and the child calls all functions of that section. No file keeps a list of them. They run in no particular order, so each
 * changes only the state of its own file. Another thread of the parent may have been at work: a lock is free in the child, and
 * half-done work is forgotten. */
#ifndef SL_FORK_H
#define SL_FORK_H

typedef void (*sl_fork_forget_t)(void);

#define SL_FORK_FORGETS(function) \
    static const sl_fork_forget_t function##_after_fork __attribute__((used, section("sl_fork_forgets"))) = function

/* From now on the children of this process forget. Any number of times, from any thread. */
void sl_fork_begin(void);

#endif
