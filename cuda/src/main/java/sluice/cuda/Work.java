package sluice.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

/// Modules, kernels, streams and events of the current context. A handle is its 64-bit value; stream 0 is the default one.
public record Work(
        @Entry(since = 2000, takes = "PP") MethodHandle cuModuleLoadData,
        @Entry(since = 2000, takes = "L") MethodHandle cuModuleUnload,
        @Entry(since = 12000, takes = "PPPPIPPI") MethodHandle cuLibraryLoadData,
        @Entry(since = 12000, takes = "L") MethodHandle cuLibraryUnload,
        @Entry(since = 2000, takes = "PLP") MethodHandle cuModuleGetFunction,
        @Entry(since = 4000, takes = "LIIIIIIILPP") MethodHandle cuLaunchKernel,
        @Entry(since = 2000, takes = "PI") MethodHandle cuStreamCreate,
        @Entry(since = 4000, takes = "L") MethodHandle cuStreamDestroy_v2,
        @Entry(since = 2000, takes = "L") MethodHandle cuStreamSynchronize,
        @Entry(since = 2000, takes = "PI") MethodHandle cuEventCreate,
        @Entry(since = 2000, takes = "LL") MethodHandle cuEventRecord,
        @Entry(since = 2000, takes = "L") MethodHandle cuEventSynchronize,
        @Entry(since = 2000, takes = "PLL") MethodHandle cuEventElapsedTime) {

    /// The default stream of the calling thread.
    public static final long PER_THREAD_STREAM = 2;

    /// The PTX text of sluice_empty, sluice_spin, sluice_stamp, sluice_fill and sluice_add.
    public static String kernels() {
        try (InputStream text = Work.class.getResourceAsStream("kernels.ptx")) {
            return new String(text.readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    public CallResult load(String ptx) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment image = arena.allocateFrom(ptx);
            return Calls.longFrom(out -> (int) cuModuleLoadData.invokeExact(out, image));
        }
    }

    public int unload(long module) {
        return Calls.status(() -> (int) cuModuleUnload.invokeExact(module));
    }

    /// Code for all contexts, as the CUDA runtime loads it.
    public CallResult loadLibrary(String ptx) {
        MemorySegment none = MemorySegment.NULL;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment image = arena.allocateFrom(ptx);
            return Calls.longFrom(out -> (int) cuLibraryLoadData.invokeExact(out, image, none, none, 0, none, none, 0));
        }
    }

    public int unloadLibrary(long library) {
        return Calls.status(() -> (int) cuLibraryUnload.invokeExact(library));
    }

    public CallResult function(long module, String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(name);
            return Calls.longFrom(out -> (int) cuModuleGetFunction.invokeExact(out, module, text));
        }
    }

    public int launch(long function, int blocks, int threads, long stream, Parameters parameters) {
        return launch(function, blocks, threads, stream, parameters.pointers());
    }

    public int launch(long function, int blocks, int threads, long stream, MemorySegment parameters) {
        try {
            return (int) cuLaunchKernel.invokeExact(
                    function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, MemorySegment.NULL);
        } catch (Throwable thrown) {
            throw Calls.unexpected(thrown);
        }
    }

    public CallResult createStream() {
        return Calls.longFrom(out -> (int) cuStreamCreate.invokeExact(out, 0));
    }

    public int destroyStream(long stream) {
        return Calls.status(() -> (int) cuStreamDestroy_v2.invokeExact(stream));
    }

    public int synchronizeStream(long stream) {
        return Calls.status(() -> (int) cuStreamSynchronize.invokeExact(stream));
    }

    public CallResult createEvent() {
        return Calls.longFrom(out -> (int) cuEventCreate.invokeExact(out, 0));
    }

    public int record(long event, long stream) {
        return Calls.status(() -> (int) cuEventRecord.invokeExact(event, stream));
    }

    public int synchronizeEvent(long event) {
        return Calls.status(() -> (int) cuEventSynchronize.invokeExact(event));
    }

    public float elapsedMillis(long start, long end) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(JAVA_FLOAT);
            Status.check("cuEventElapsedTime",
                    Calls.status(() -> (int) cuEventElapsedTime.invokeExact(out, start, end)));
            return out.get(JAVA_FLOAT, 0);
        }
    }
}
