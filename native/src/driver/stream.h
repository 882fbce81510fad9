/* stream: which stream a call means, and whether it captures. */
#ifndef SL_STREAM_H
#define SL_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"
#include "os/compiler.h"

/* How a call names a stream. A default stream's handle means another stream in each variant of a call. */
typedef struct {
    CUstream handle;
    bool per_thread; /* which variant of the call named it */
    bool own;        /* the default stream of one thread: only that thread can name it */
    uint64_t key;    /* the same for the same stream */
} sl_stream_t;

sl_stream_t sl_stream_of(CUstream handle, bool per_thread);
/* The key of this thread's default stream. */
uint64_t sl_stream_own_key(void);
/* Captures that were begun and not ended. While there are none, no stream has to be asked. */
SL_OWN extern _Atomic int sl_stream_open_captures;
bool sl_stream_captures(const sl_stream_t *stream);

/* A question about a stream that captures, or is about to, ends the capture with an error. A thread that does not know what the program does
 * with a stream asks only between these two. False: a capture is open, so it must not ask. */
bool sl_stream_begin_asking(void);
void sl_stream_end_asking(void);
/* Before the driver begins a capture: counts it, and lets questions that were begun end. */
void sl_stream_begin_capture(void);

#endif
