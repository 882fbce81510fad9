/* graph: the memory of graphs that allocate. */
#ifndef SL_GRAPH_H
#define SL_GRAPH_H

/* Some graph of this process has, or will have, a node that allocates. */
void sl_graph_note_allocation(void);

#endif
