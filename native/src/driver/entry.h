/* entry: what the generated sources need from the hand-written ones, and the few status
 * codes that Sluice gives. */
#ifndef SL_ENTRY_H
#define SL_ENTRY_H

#define SL_EXPORT __attribute__((visibility("default")))
/* A variable of the library that a call looks at: not by way of the table of what other libraries may define. */
#define SL_OWN __attribute__((visibility("hidden")))
#define SL_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
/* The way of an ordinary call lies together, so that little of it has to be fetched after the driver was in the kernel. */
#define SL_HOT __attribute__((hot))
/* So do the few words that every call looks at. */
#define SL_HOT_DATA __attribute__((section("sl_hot")))
#define SL_INLINE static inline __attribute__((always_inline))
/* A word that others change, for who looks at it once between two calls of the driver: as a relaxed load, but that the compiler may
 * take it for an operand. */
#define SL_LOAD(word) (*(const __typeof__((void)0, (word)) *)&(word))

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_NOT_PERMITTED = 800,
};

enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_FUNCTION_NOT_FOUND = 13,
    NVML_ERROR_MEMORY = 20,
};

#define SL_ENTRY_NAME_BYTES 64

typedef struct {
    unsigned index; /* position in the table of real functions */
    void *wrapper;  /* the function that this library exports under the same name */
} sl_entry_wrapper_t;

/* The entry points of one library of the driver. */
typedef struct {
    void **real; /* its table of real functions */
    const char (*names)[SL_ENTRY_NAME_BYTES]; /* not pointers: the loader would have to relocate each */
    unsigned count;
    const sl_entry_wrapper_t *wrappers;
    unsigned wrapper_count;
} sl_entry_table_t;

extern const sl_entry_table_t sl_entry_cuda, sl_entry_nvml;

/* Called by the trampolines of libcuda: the driver's function, or one that says CUDA_ERROR_NOT_FOUND. */
void *sl_entry_resolve(unsigned index);

#endif
