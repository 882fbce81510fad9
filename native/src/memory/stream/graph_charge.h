/* graph_charge: what the driver takes on a device when a graph that allocates is launched. */
#ifndef SL_GRAPH_CHARGE_H
#define SL_GRAPH_CHARGE_H

#include "memory/stream/graph_need.h"
#include "memory/pool_charge.h"

/* The functions that mean the same stream by its number as the hooked call does. */
typedef struct {
    CUresult (*get_id)(CUstream stream, unsigned long long *id);
    CUresult (*get_context)(CUstream stream, CUcontext *context);
    CUresult (*query)(CUstream stream);
} sl_graph_stream_t;

typedef struct {
    sl_pool_t *pool[SL_GRAPH_NEED_DEVICES]; /* NULL: the graph needs nothing here */
    bool locked[SL_GRAPH_NEED_DEVICES];
    uint64_t promised[SL_GRAPH_NEED_DEVICES], sum[SL_GRAPH_NEED_DEVICES];
    uint64_t grown[SL_GRAPH_NEED_DEVICES]; /* what the driver took, after the end */
    CUgraphExec exec; /* NULL: it is being made */
    const sl_graph_need_t *need;
    CUstream stream;
    const sl_graph_stream_t *calls;
    uint64_t key; /* of the stream */
    bool has_id;  /* the key is the driver's number, which no other stream gets as long as the process lives */
} sl_graph_charge_t;

/* Before the driver is asked; exec, need, stream and calls are set. What it can take is reserved then and the graph memory locked,
 * until sl_graph_charge_end. Any other answer than success: the call is refused. */
CUresult sl_graph_charge_begin(sl_graph_charge_t *charge);
void sl_graph_charge_end(sl_graph_charge_t *charge, CUresult status);

/* The executable graph is about to go: another may get its handle. */
void sl_graph_charge_forget_exec(CUdevice device, CUgraphExec exec);
/* The program trims. */
CUresult sl_graph_charge_trim(CUdevice device);

/* How many launches there were; and after a wait for all work of a context: there were so many when it began. */
unsigned sl_graph_charge_launches(void);
void sl_graph_charge_idle(CUcontext context, unsigned launches);

#endif
