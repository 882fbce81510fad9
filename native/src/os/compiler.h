/* compiler: attributes and hints for the compiler. */
#ifndef SL_COMPILER_H
#define SL_COMPILER_H

#include <stdatomic.h>

#define SL_EXPORT __attribute__((visibility("default")))
/* A variable that only this library defines: the compiler reads it directly, not through the global offset table. */
#define SL_OWN __attribute__((visibility("hidden")))
#define SL_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
/* Functions of an ordinary call. They lie together, so that few cache lines are fetched after the driver was in the kernel. */
#define SL_HOT __attribute__((hot))
/* The few words that every call reads. They lie together, too. */
#define SL_HOT_DATA __attribute__((section("sl_hot")))
#define SL_INLINE static inline __attribute__((always_inline))
#define SL_LOAD(word) atomic_load_explicit(&(word), memory_order_relaxed)

#endif
