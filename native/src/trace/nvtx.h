/* nvtx: both sides of NVIDIA's tools extension: the program's ranges go to the trace, the library's waits go to a profiler. */
#ifndef SL_NVTX_H
#define SL_NVTX_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/entry.h"

/* The numbers of the protocol: modules, their functions, and kinds of messages. */
enum { SL_NVTX_CALLBACKS = 1 };
enum { SL_NVTX_CORE = 1, SL_NVTX_CORE2 = 5 };
enum {
    SL_NVTX_MARK_EX = 1, SL_NVTX_MARK_A, SL_NVTX_MARK_W, SL_NVTX_START_EX, SL_NVTX_START_A, SL_NVTX_START_W, SL_NVTX_END,
    SL_NVTX_PUSH_EX, SL_NVTX_PUSH_A, SL_NVTX_PUSH_W, SL_NVTX_POP, SL_NVTX_CORE_SIZE = 16,
};
enum {
    SL_NVTX_DOMAIN_MARK = 1, SL_NVTX_DOMAIN_START, SL_NVTX_DOMAIN_END, SL_NVTX_DOMAIN_PUSH, SL_NVTX_DOMAIN_POP,
    SL_NVTX_REGISTER_A = 10, SL_NVTX_REGISTER_W, SL_NVTX_CREATE_A, SL_NVTX_CREATE_W, SL_NVTX_CORE2_SIZE = 16,
};
enum { SL_NVTX_ASCII = 1, SL_NVTX_UNICODE = 2, SL_NVTX_REGISTERED = 3 };

typedef struct {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
} sl_nvtx_attributes_t;

typedef void (*sl_nvtx_function_t)(void);
typedef struct {
    uint64_t struct_bytes;
    int (*functions_of)(int module, sl_nvtx_function_t ***table, unsigned *size);
} sl_nvtx_callbacks_t;

/* The program's part of NVTX calls it if NVTX_INJECTION64_PATH names this library. */
int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id));

/* A profiler listens, other than this library. */
extern bool sl_nvtx_listens;
/* Looks for a profiler, once. The caller holds no lock. */
void sl_nvtx_look(void);
void sl_nvtx_push_slowly(const char *name);
void sl_nvtx_pop_slowly(void);

static inline void sl_nvtx_push(const char *name) {
    if (SL_UNLIKELY(sl_nvtx_listens))
        sl_nvtx_push_slowly(name);
}

static inline void sl_nvtx_pop(void) {
    if (SL_UNLIKELY(sl_nvtx_listens))
        sl_nvtx_pop_slowly();
}

#endif
