/* graph: the memory of graphs that allocate. */
#ifndef SL_GRAPH_H
#define SL_GRAPH_H

#include "memory/stream/graph_charge.h"

typedef struct {
    CUgraphExec exec;
    sl_graph_need_t need;
} sl_graph_t;

typedef CUresult (*sl_graph_capture_query_t)(CUstream, CUstreamCaptureStatus *);

/* Some graph of this process has, or will have, a node that allocates. */
void sl_graph_note_allocation(void);
/* Whether a launch into the stream takes memory. False while the stream captures: then the graph becomes a part of another one. */
bool sl_graph_find_allocating(CUgraphExec exec, CUstream stream, sl_graph_capture_query_t is_capturing, sl_graph_t *graph);
/* Reserves the graph's memory and forwards the launch or the upload. */
CUresult sl_graph_submit(CUresult (*forward)(CUgraphExec, CUstream), const sl_graph_t *graph, CUstream stream, const sl_graph_stream_t *calls);
/* The driver's calls for the variant of a stream that the program uses. */
#define SL_GRAPH_STREAM_CALLS(twin) \
    (&(sl_graph_stream_t){real.cuStreamGetId##twin, real.cuStreamGetCtx##twin, real.cuStreamQuery##twin})

#endif
