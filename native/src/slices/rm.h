/* rm: the calls of NVIDIA's kernel driver that matter for time slices. spec/rm.api says what is known of them. */
#ifndef SL_RM_H
#define SL_RM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#define SL_RM_CHECKED {"580.159.03", "580.159.04"}
#define SL_RM_TYPE 'F'

enum { SL_RM_FREE = 0x29, SL_RM_CONTROL = 0x2a, SL_RM_ALLOC = 0x2b, SL_RM_XFER = 0xd3 };
enum { SL_RM_DEVICE = 0x0080, SL_RM_SUBDEVICE = 0x2080, SL_RM_GROUP = 0xa06c };
enum { SL_RM_SET_SLICE = 0xa06c0103u, SL_RM_GET_SLICE = 0xa06c0104u, SL_RM_PREEMPT = 0xa06c0105u, SL_RM_DISABLE = 0x2080110bu };
enum { SL_RM_OK = 0 };

#define SL_RM_CHANNELS 64 /* of one call */

typedef struct {
    uint32_t client, parent, object, class;
    uint64_t parameters;
    uint32_t bytes, status;
} sl_rm_alloc_t;

typedef struct {
    uint32_t client, parent, object, class;
    uint64_t parameters, rights;
    uint32_t bytes, flags, status, padding;
} sl_rm_alloc_long_t;

typedef struct {
    uint32_t client, parent, object, status;
} sl_rm_free_t;

typedef struct {
    uint32_t client, object, command, flags;
    uint64_t parameters;
    uint32_t bytes, status;
} sl_rm_control_t;

typedef struct {
    uint32_t escape, bytes;
    uint64_t parameters;
} sl_rm_xfer_t;

typedef struct {
    uint64_t micros;
} sl_rm_slice_t;

typedef struct {
    uint8_t wait, manual, padding[2];
    uint32_t timeout_micros;
} sl_rm_preempt_t;

typedef struct {
    uint8_t disable, padding1[3];
    uint32_t count;
    uint8_t only_scheduling, rewind, padding2[6];
    uint64_t event;
    uint32_t clients[SL_RM_CHANNELS], channels[SL_RM_CHANNELS];
} sl_rm_disable_t;

#define SL_RM_CONTROL_REQUEST _IOWR(SL_RM_TYPE, SL_RM_CONTROL, sl_rm_control_t)

_Static_assert(sizeof(sl_rm_alloc_t) == 32 && offsetof(sl_rm_alloc_t, status) == 28, "spec/rm.api");
_Static_assert(sizeof(sl_rm_alloc_long_t) == 48 && offsetof(sl_rm_alloc_long_t, status) == 40, "spec/rm.api");
_Static_assert(sizeof(sl_rm_free_t) == 16 && offsetof(sl_rm_free_t, status) == 12, "spec/rm.api");
_Static_assert(sizeof(sl_rm_control_t) == 32 && offsetof(sl_rm_control_t, parameters) == 16, "spec/rm.api");
_Static_assert(sizeof(sl_rm_xfer_t) == 16 && sizeof(sl_rm_slice_t) == 8 && sizeof(sl_rm_preempt_t) == 8, "spec/rm.api");
_Static_assert(sizeof(sl_rm_disable_t) == 536 && offsetof(sl_rm_disable_t, event) == 16 && offsetof(sl_rm_disable_t, channels) == 280, "spec/rm.api");

#endif
