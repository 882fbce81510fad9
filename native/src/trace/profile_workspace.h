/* profile_workspace: the four lines that Alnair's exporter reads in the workspace of a container. */
#ifndef SL_PROFILE_WORKSPACE_H
#define SL_PROFILE_WORKSPACE_H

#include "trace/profile_text.h"

void sl_profile_workspace_look(const char *folder, sl_profile_workspace_t *workspace);
/* GPU time that a tenant with a cap may use at once, in nanoseconds. */
uint64_t sl_profile_workspace_left(uint64_t due_nanos, uint32_t permille, uint64_t now_nanos);

#endif
