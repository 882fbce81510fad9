/* The simulated kernel driver as the rest of sim/ sees it. */
#ifndef SIM_DEVICE_H
#define SIM_DEVICE_H

#include "kernel/rm.h"

/* From now on this descriptor is the device, without any object; -1: there is none. */
void sim_device_set(int fd);
uint64_t sim_device_slice(int group); /* in microseconds; 0: no such group */
bool sim_device_disabled(int group);

#endif
