/* array_size: what an array takes.
 *
 * The driver does not say: cuArrayGetMemoryRequirements answers only for arrays without memory. The driver lays memory out in groups of
 * 64 bytes x 8 rows, and a 3-D array in stacks of up to 16 slices. The groups of layers and of mipmaps lie in blocks of up to 16, one
 * above the other. This rule gives the size of every shape measured on an H200 with driver 580 (see array_test). If a driver pads more,
 * NVML's figure shows it later. */
#include "memory/plain/array.h"

#include <stdbool.h>

#define GROUP_BYTES 64u
#define GROUP_ROWS 8u
#define STACK_SLICES 16u
#define BLOCK_GROUPS 16u
#define LEVEL_STEP 512u
#define LARGEST_SIDE (1u << 18) /* beyond, every driver refuses */

enum { LAYERED = 0x01, CUBEMAP = 0x04, SPARSE = 0x40, DEFERRED_MAPPING = 0x80 };

/* Bits of a texel; negative: bits of each channel. */
static int format_bits(int format) {
    switch (format) {
    case 0x01: case 0x08: return -8;
    case 0x02: case 0x09: case 0x10: return -16;
    case 0x03: case 0x0a: case 0x20: return -32;
    case 0x91: case 0x92: case 0x97: case 0x98: return 4;               /* BC1, BC4 */
    case 0x93: case 0x94: case 0x95: case 0x96: case 0x99: case 0x9a:
    case 0x9b: case 0x9c: case 0x9d: case 0x9e: return 8;               /* BC2, 3, 5, 6H, 7 */
    case 0xb0: return 12;                                               /* NV12 */
    case 0xa2: case 0xa5: return 16;                                    /* NV16, YUY2 */
    case 0x9f: case 0xa1: case 0xb2: case 0xb4: return 24;              /* P010, P016, YUV 4:4:4 of 8 bits */
    case 0x50: case 0xa3: case 0xa4: case 0xa6: case 0xa7: case 0xa8: case 0xa9: return 32;
    case 0xb3: case 0xb5: return 48;
    case 0xb1: return 64;
    case 0xc0: case 0xc6: return 8;
    case 0xc1: case 0xc3: case 0xc7: case 0xc9: return 16;
    case 0xc2: case 0xc4: case 0xc8: case 0xca: return 32;
    case 0xc5: case 0xcb: return 64;
    default: return -32;
    }
}

static bool is_block_compressed(int format) {
    return format >= 0x91 && format <= 0x9e;
}

static uint64_t round_up(uint64_t value, uint64_t step) {
    return (value + step - 1) / step * step;
}

/* Rounds up to the smallest power of two that holds all of them, or to a multiple of the largest. */
static uint64_t padded(uint64_t count, uint64_t largest) {
    uint64_t step = 1;
    while (step < count && step < largest)
        step *= 2;
    return round_up(count, step);
}

static uint64_t padded_rows(uint64_t height, bool in_blocks) {
    uint64_t groups = height ? (height + GROUP_ROWS - 1) / GROUP_ROWS : 1;
    return GROUP_ROWS * (in_blocks ? padded(groups, BLOCK_GROUPS) : groups);
}

static uint64_t level_bytes(const CUDA_ARRAY3D_DESCRIPTOR *shape, bool mipmapped, uint64_t width, uint64_t height, uint64_t depth) {
    bool layered = shape->Flags & (LAYERED | CUBEMAP), stacked = height && depth && !layered;
    int bits = format_bits(shape->Format);
    uint64_t texel_bits = bits < 0 ? (uint64_t)-bits * shape->NumChannels : (uint64_t)bits;
    uint64_t row = round_up((width * texel_bits + 7) / 8, GROUP_BYTES);
    if (is_block_compressed(shape->Format)) {
        row = round_up((width + 3) / 4 * texel_bits * 2, GROUP_BYTES);
        height = (height + 3) / 4;
    }
    uint64_t rows = padded_rows(height, !stacked && (layered || mipmapped));
    return row * rows * (stacked ? padded(depth, STACK_SLICES) : depth ? depth : 1);
}

static uint64_t half(uint64_t side) {
    return side > 1 ? side / 2 : side;
}

uint64_t sl_array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned levels) {
    uint64_t width = shape->Width, height = shape->Height, depth = shape->Depth, bytes = 0;
    bool can_be = width && width <= LARGEST_SIDE && height <= LARGEST_SIDE && depth <= LARGEST_SIDE && shape->NumChannels <= 4;
    if (!can_be || shape->Flags & (SPARSE | DEFERRED_MAPPING))
        return 0;
    for (unsigned level = 0; level < levels; level++) {
        bytes += round_up(level_bytes(shape, levels > 1, width, height, depth), LEVEL_STEP);
        if (width <= 1 && height <= 1 && (depth <= 1 || shape->Flags & (LAYERED | CUBEMAP)))
            break;
        width = half(width);
        height = half(height);
        depth = shape->Flags & (LAYERED | CUBEMAP) ? depth : half(depth);
    }
    return bytes;
}
