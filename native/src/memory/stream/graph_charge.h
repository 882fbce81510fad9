/* graph_charge: what the driver takes on a device when a graph that allocates is launched. */
#ifndef SL_GRAPH_CHARGE_H
#define SL_GRAPH_CHARGE_H

#include "memory/stream/graph_need.h"
#include "memory/pool_charge.h"

/* The driver's functions of the same variant as the hooked call, so that the number of a default stream means the same stream. */
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
    CUgraphExec exec; /* NULL: the graph is being instantiated */
    const sl_graph_need_t *need;
    CUstream stream;
    const sl_graph_stream_t *calls;
    uint64_t key; /* of the stream */
    bool has_id;  /* the key is the driver's ID of the stream, which no other stream of the process ever gets */
} sl_graph_charge_t;

/* Before the driver is asked; exec, need, stream and calls are set. Reserves the most that the launch can take, and locks the graph
 * memory until sl_graph_charge_end. If the result is not success, the caller refuses the call with it. */
CUresult sl_graph_charge_begin(sl_graph_charge_t *charge);
void sl_graph_charge_end(sl_graph_charge_t *charge, CUresult status);

/* The executable graph is about to be destroyed: another may get its handle. */
void sl_graph_charge_forget_exec(CUdevice device, CUgraphExec exec);
/* The program trims. */
CUresult sl_graph_charge_trim(CUdevice device);

/* The number of launches so far. After a wait for all work of a context, the second function gets the number from before the wait. */
unsigned sl_graph_charge_launches(void);
void sl_graph_charge_idle(CUcontext context, unsigned launches);

#endif
