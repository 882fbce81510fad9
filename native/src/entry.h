/* entry: what the generated sources need from the hand-written ones, and the few CUDA status codes that Sluice gives. */
#ifndef SL_ENTRY_H
#define SL_ENTRY_H

#define SL_EXPORT __attribute__((visibility("default")))
#define SL_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_PERMITTED = 800,
};

typedef struct {
    unsigned index; /* position in sl_real_t */
    void *wrapper;  /* the function that this library exports under the same name */
} sl_entry_hook_t;

extern const char *const sl_entry_names[];
extern const sl_entry_hook_t sl_entry_hooks[];
extern const unsigned sl_entry_hook_count;

/* Called by the trampolines: the driver's function, or one that says CUDA_ERROR_NOT_FOUND. */
void *sl_entry_resolve(unsigned index);

#endif
