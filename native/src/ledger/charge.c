/* charge: one request for memory on its way through the ledger. */
#include "ledger/charge.h"

#define LARGEST (1ull << 56) /* no driver grants it; sums of such requests do not wrap */

SL_HOT int sl_charge_open(sl_charge_t *charge, int gpu, sl_ledger_use_t use) {
    *charge = (sl_charge_t){.gpu = gpu, .use = use};
    sl_tenant_count_call(gpu >= 0);
    return gpu == SL_GPU_REFUSED ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

SL_HOT uint64_t sl_charge_round(const sl_charge_t *charge, uint64_t size) {
    if (charge->gpu < 0 || size > LARGEST)
        return size > LARGEST ? LARGEST : size;
    uint64_t granularity = sl_gpu_granularity((unsigned)charge->gpu);
    return (size + granularity - 1) & ~(granularity - 1);
}

SL_HOT static bool reserved(sl_charge_t *charge, uint64_t bytes, uint64_t used) {
    if (!used)
        return false;
    charge->bytes = bytes;
    charge->used = used;
    return true;
}

SL_HOT bool sl_charge_try(sl_charge_t *charge, uint64_t bytes) {
    return charge->gpu < 0 || !bytes || reserved(charge, bytes, sl_ledger_try((unsigned)charge->gpu, bytes));
}

SL_HOT bool sl_charge_try_at_once(sl_charge_t *charge, uint64_t bytes) {
    return charge->gpu < 0 || !bytes || reserved(charge, bytes, sl_ledger_try_at_once((unsigned)charge->gpu, bytes, 0));
}

SL_HOT bool sl_charge_reserve(sl_charge_t *charge, uint64_t bytes) {
    return charge->gpu < 0 || !bytes || reserved(charge, bytes, sl_ledger_reserve((unsigned)charge->gpu, bytes));
}

int sl_charge_refuse(const sl_charge_t *charge, uint64_t bytes) {
    sl_ledger_refuse((unsigned)charge->gpu, bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

SL_HOT int sl_charge_begin(sl_charge_t *charge, int gpu, sl_ledger_use_t use, uint64_t size) {
    int status = sl_charge_open(charge, gpu, use);
    if (charge->gpu < 0)
        return status;
    uint64_t bytes = sl_charge_round(charge, size);
    return sl_charge_reserve(charge, bytes) ? CUDA_SUCCESS : sl_charge_refuse(charge, bytes);
}

bool sl_charge_resize(sl_charge_t *charge, uint64_t bytes) {
    if (charge->gpu < 0)
        return true;
    unsigned gpu = (unsigned)charge->gpu;
    if (bytes > charge->bytes) {
        uint64_t used = sl_ledger_try(gpu, bytes - charge->bytes);
        return reserved(charge, bytes, used);
    }
    sl_ledger_cancel(gpu, charge->bytes - bytes);
    charge->bytes = bytes;
    return true;
}

SL_HOT void sl_charge_adopt(sl_charge_t *charge, uint64_t bytes, uint64_t used) {
    charge->bytes = bytes;
    charge->used = used;
}

SL_HOT void sl_charge_commit(sl_charge_t *charge) {
    if (charge->gpu >= 0 && charge->bytes)
        sl_ledger_commit((unsigned)charge->gpu, charge->use, charge->bytes, charge->used);
    charge->bytes = 0;
}

SL_HOT void sl_charge_cancel(sl_charge_t *charge) {
    if (charge->gpu >= 0 && charge->bytes)
        sl_ledger_cancel((unsigned)charge->gpu, charge->bytes);
    charge->bytes = 0;
}
