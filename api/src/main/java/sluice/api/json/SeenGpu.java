package sluice.api.json;

import java.util.Optional;
import sluice.api.model.EarlierLook;
import sluice.api.model.OnBoards;
import sluice.region.GpuTime;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.boards.BoardTenant;

/// A GPU of a tenant, with values from an earlier look and from the boards.
record SeenGpu(Tenant tenant, TenantGpu gpu, EarlierLook earlier, OnBoards boards) {
    GpuTime time() {
        return gpu.time();
    }

    boolean measured() {
        return gpu.time().measured();
    }

    Optional<BoardTenant> turns() {
        return boards.of(tenant, gpu);
    }
}
