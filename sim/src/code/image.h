/* The contents of a module's code, from PTX text or a cubin: names of kernels, and variables with their places. */
#ifndef SIM_IMAGE_H
#define SIM_IMAGE_H

#include "entry/sim.h"

typedef struct sim_symbol sim_symbol_t;

struct sim_symbol {
    sim_symbol_t *next;
    bool is_kernel, has_value;
    size_t bytes, offset; /* of a variable; its offset in all variables of its kind */
    char name[];
};

typedef struct {
    sim_symbol_t *first, *last;
    size_t empty_bytes, value_bytes; /* of variables without and with a first value: .nv.global and .nv.global.init */
} sim_image_t;

CUresult sim_image_add(sim_image_t *image, const char *name, size_t length, sim_symbol_t **symbol);
CUresult sim_image_add_variable(sim_image_t *image, const char *name, size_t length, size_t bytes, bool has_value);
void sim_image_drop(sim_image_t *image);

CUresult sim_ptx_read(const char *text, sim_image_t *image);

bool sim_cubin_is_one(const void *data);
CUresult sim_cubin_read(const void *data, sim_image_t *image);
void *sim_cubin_write(const sim_image_t *image, size_t *bytes);

#endif
