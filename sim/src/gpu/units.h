/* Units: devices with memory and a timeline of their own. A whole GPU is a unit, with its number in NVML. After the GPUs come the MIG
 * instances of split GPUs; CUDA does not use a split GPU as a whole. */
#ifndef SIM_UNITS_H
#define SIM_UNITS_H

#include "gpu/settings.h"

#define SIM_UUID_TEXT 48
#define SIM_MIG_MOST 7

unsigned sim_units(const sim_settings_t *settings);
int sim_unit_gpu(const sim_settings_t *settings, int unit);
int sim_unit_instance(const sim_settings_t *settings, int unit); /* -1: a whole GPU */
int sim_unit_of_instance(const sim_settings_t *settings, int gpu, int instance);
void sim_unit_uuid(const sim_settings_t *settings, int unit, unsigned char bytes[16]);
void sim_unit_uuid_text(const sim_settings_t *settings, int unit, char text[SIM_UUID_TEXT]);
void sim_unit_name(const sim_settings_t *settings, int unit, char text[64]);
uint64_t sim_unit_memory(const sim_settings_t *settings, int unit);
int sim_unit_sms(const sim_settings_t *settings, int unit);

/* Fills in which units CUDA shows: CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER, without GPUs that were lost before. */
void sim_units_show(sim_settings_t *settings, const char *list, const char *order);

#endif
