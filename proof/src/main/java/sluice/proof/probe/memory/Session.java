package sluice.proof.probe.memory;

import java.util.ArrayList;
import java.util.List;
import sluice.cuda.CallResult;
import sluice.cuda.Driver;
import sluice.cuda.Status;
import sluice.proof.facts.Facts;

/// The probe's side of a conversation with the driver: a GPU, its primary context, and the pointers it holds.
public final class Session {
    final Driver.Route route;
    final List<Long> held = new ArrayList<>();
    private Driver driver;
    private int device;
    private long context;
    private long stream;

    public Session(Driver.Route route) {
        this.route = route;
    }

    public Driver driver() {
        if (driver == null) {
            driver = Driver.require(route);
        }
        return driver;
    }

    public int device() {
        return device;
    }

    public long context() {
        return context;
    }

    /// The one stream of this session.
    public long stream() {
        if (stream == 0) {
            stream = driver().work().createStream().orThrow("cuStreamCreate");
        }
        return stream;
    }

    /// Initialises the driver and makes the primary context of a GPU current.
    public Facts open(int gpu) {
        if (Driver.open(route).isEmpty()) {
            return Facts.of("status", Status.NOT_FOUND, "step", "open " + Driver.LIBRARY);
        }
        int status = driver().devices().init();
        if (status != Status.SUCCESS) {
            return Facts.of("status", status, "step", "cuInit");
        }
        CallResult found = driver().devices().device(gpu);
        if (!found.ok()) {
            return Facts.of("status", found.status(), "step", "cuDeviceGet");
        }
        device = (int) found.value();
        return retain();
    }

    private Facts retain() {
        CallResult retained = driver().devices().retainPrimaryContext(device);
        if (!retained.ok()) {
            return Facts.of("status", retained.status(), "step", "cuDevicePrimaryCtxRetain");
        }
        context = retained.value();
        return Facts.of("status", driver().devices().setCurrent(context), "step", "cuCtxSetCurrent");
    }

    /// As cudaDeviceReset: destroys the primary context with all its contents. Then makes a new one.
    public Facts reset() {
        stream = 0;
        int status = driver().devices().resetPrimaryContext(device);
        held.clear();
        return status == Status.SUCCESS ? retain() : Facts.of("status", status, "step", "cuDevicePrimaryCtxReset");
    }

    /// Gives the primary context up, which destroys it, and makes a new one.
    public Facts release() {
        stream = 0;
        int status = driver().devices().releasePrimaryContext(device);
        held.clear();
        return status == Status.SUCCESS ? retain() : Facts.of("status", status, "step", "cuDevicePrimaryCtxRelease");
    }

    public Facts describe() {
        CallResult granularity = driver().virtualMemory().granularity(device);
        return Facts.of(
                "name", driver().devices().name(device),
                "uuid", driver().devices().uuid(device),
                "count", driver().devices().count().value(),
                "version", driver().devices().version().value(),
                "total", driver().devices().totalBytes(device).orThrow("cuDeviceTotalMem"),
                "granularity", granularity.ok() ? granularity.value() : 2L << 20);
    }
}
