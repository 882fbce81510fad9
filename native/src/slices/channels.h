/* channels: the channel groups of this process on the GPUs, and the channels in them.
 *
 * A context's work reaches the GPU through channels. Those that run together are a group, and a group has a time slice. libcuda allocates
 * both by calls of the kernel driver; this file sees these calls and remembers the objects until libcuda frees them or one above them. */
#ifndef SL_CHANNELS_H
#define SL_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "slices/rm.h"

#define SL_CHANNELS_GROUPS 64u /* more groups than that: nothing is changed */

typedef struct {
    int fd;            /* libcuda's own descriptor: the driver accepts the objects on no other */
    uint64_t device;   /* of that descriptor, when libcuda used it */
    uint32_t client, subdevice, group;
    uint64_t own_micros; /* the slice that libcuda has set */
    uint32_t count;
    uint32_t channels[SL_RM_CHANNELS];
} sl_channels_group_t;

/* Around a call of libcuda: before a call that frees, and after any call that the kernel carried out. */
void sl_channels_freeing(uint32_t escape, const void *parameters, uint32_t bytes);
void sl_channels_called(int fd, uint32_t escape, const void *parameters, uint32_t bytes);

/* The groups for which libcuda has set a slice. False: they are more than fit, or have more channels than fit. */
bool sl_channels_read(sl_channels_group_t groups[SL_CHANNELS_GROUPS], unsigned *count);
/* The channels that one group has now; first those that it had, so they fit. False: libcuda has freed the group. */
bool sl_channels_find(sl_channels_group_t *group);
/* Another number whenever a group or a channel is new. */
unsigned sl_channels_version(void);
/* Makes it another number: what was asked of the groups has to be asked again. */
void sl_channels_renew(void);
/* The driver has stored its state and closed its descriptors. */
void sl_channels_drop(void);

#endif
