/* reasons: why a pause or a resume waits or is refused. All texts that tools read in pause.reason stand here, each with the longest values that its places take:
 * reasons_test.c shows that none of them is cut. Advice comes last. */
#ifndef SL_REASONS_H
#define SL_REASONS_H

#define SL_REASON_BYTES "1023.9 GiB"
#define SL_REASON_ERROR "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"
#define SL_REASON_STEP "free memory, and to map it again"

/* name, text, values */
#define SL_REASONS(X)                                                                                                                                   \
    X(CALLS, "%u call%s of the program must come back first, or a capture must end", 9999u, "s")                                                        \
    X(CONTEXT_ERROR, "a context answers error %d, so its memory cannot be copied; the program has to end", 999)                                         \
    X(LIST, "has no memory for the list of what to move")                                                                                               \
    X(CONTEXTS, "has memory in more than %d contexts", 9999)                                                                                            \
    X(NO_CONTEXT, "has no context for its memory on GPU %d", 9999)                                                                                      \
    X(COPY, "the driver fails to copy memory to the host (error %d)", 999)                                                                              \
    X(FREE, "the driver does not free memory of the process (error %d)", 999)                                                                           \
    X(BROKEN, "the driver fails to %s (error %d); the contents are safe in host memory", SL_REASON_STEP, 999)                                           \
    X(HOST_RAN_OUT, "host memory ran out while memory was saved; free some, or give the job more memory")                                               \
    X(HOST, "needs %s of host memory, %s are free; free some, or give the job more memory", SL_REASON_BYTES, SL_REASON_BYTES)                           \
    X(RESERVOIR, "needs %s more of host memory, the limit leaves %s; raise it with sluice set --reservoir", SL_REASON_BYTES, SL_REASON_BYTES)           \
    X(AGENT, "needs %s of host memory, the agent's reservoir has %s for it; raise its setting 'reservoir'", SL_REASON_BYTES, SL_REASON_BYTES)           \
    X(BLOCKS, "has no memory for the list of blocks")                                                                                                   \
    X(KERNEL, "the kernel refuses %llu MiB of host memory; raise ulimit -v or the agent's reservoir", 16777215ull)                                      \
    X(ROOM, "needs %s on GPU %d; its quota leaves %s, and the GPU has %s free", SL_REASON_BYTES, 9999, SL_REASON_BYTES, SL_REASON_BYTES)                \
    X(LOOK, "waits until 'sluice resume' or an agent has looked for room on the GPU; the driver cannot try twice")                                      \
    X(QUOTA, "the quota on GPU %d has no room for %llu MiB", 9999, 16777215ull)                                                                         \
    X(OLD_DRIVER, "the driver cannot store its own state; that needs driver 570 or newer")                                                              \
    X(MANAGED, "has managed memory, with which the driver cannot store its own state; use --release")                                                   \
    X(OPENED, "has opened memory of another process, with which the driver cannot restore its own state; use --release")                                \
    X(EXPORTED, "another process may have opened its memory, with which the driver cannot restore its own state; use --release")                         \
    X(SHARED, "shares memory or events with other processes or devices, which the driver may not be able to restore; use --release")                       \
    X(STOP, "the driver cannot stop the process: %s (%d); try --release", SL_REASON_ERROR, 999)                                                         \
    X(STORE, "the driver cannot store its own state: %s (%d); use --release", SL_REASON_ERROR, 999)                                                     \
    X(GO_ON, "the driver cannot let the process go on: %s (%d); start the job again", SL_REASON_ERROR, 999)                                             \
    X(RESTORE, "the driver cannot restore its own state: %s (%d); start the job again", SL_REASON_ERROR, 999)

#define SL_REASON_DECLARE(name, text, ...) static const char SL_REASON_##name[] __attribute__((unused)) = text;
SL_REASONS(SL_REASON_DECLARE)
#undef SL_REASON_DECLARE

#endif
