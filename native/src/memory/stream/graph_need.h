/* graph_need: how much memory the driver takes for one launch of a graph. */
#ifndef SL_GRAPH_NEED_H
#define SL_GRAPH_NEED_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

#define SL_GRAPH_NEED_DEVICES 16

typedef struct {
    uint64_t bytes[SL_GRAPH_NEED_DEVICES]; /* the driver takes no more for one launch */
    bool keeps[SL_GRAPH_NEED_DEVICES];     /* the graph does not free all that it allocates */
} sl_graph_need_t;

/* Includes child graphs. Allocations that the driver does not describe count as 0. */
void sl_graph_need_find(CUgraph graph, sl_graph_need_t *need);

#endif
