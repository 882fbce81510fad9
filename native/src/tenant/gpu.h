/* gpu: which entry of the region a CUDA device is. */
#ifndef SL_GPU_H
#define SL_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

#define SL_GPU_DEVICES 64 /* numbers of CUDA devices that can be accounted */

enum { SL_GPU_UNCOUNTED = -1, SL_GPU_REFUSED = -2 };

/* The number of the entry, or one of the above when the device cannot be accounted. */
int sl_gpu_find(CUdevice device);
/* Counts the slot of this process on the GPU of an entry, before its first charge there. */
void sl_gpu_open(unsigned entry);
/* The size of the driver's blocks on the GPU of an entry: always a power of two, whatever the region says. */
uint32_t sl_gpu_granularity(unsigned entry);
/* The same for the device of the current context. */
int sl_gpu_current(void);
/* The same, and that context; NULL where there is none. */
int sl_gpu_of_context(CUcontext *context);
/* Whether the program sees exactly one device, so that the driver need not be asked. */
bool sl_gpu_is_alone(void);
/* The entry of a GPU that a process of the tenant has used already; asks no driver. */
int sl_gpu_known(const uint8_t uuid[16]);
/* The folder in which the kernel lists GPUs by their place on the PCI bus. Tests set another. */
extern const char *sl_gpu_folder;
/* After a fork: the child looks up every device again. */
void sl_gpu_forget(void);

#endif
