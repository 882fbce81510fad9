package sluice.codegen;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.codegen.api.ToolkitComparison;
import sluice.codegen.api.ToolkitHeaders;

class ToolkitComparisonTest {
    private static final String SAME = """
            typedef CUresult (CUDAAPI *PFN_cuInit_v2000)(unsigned Flags);
            typedef CUresult (CUDAAPI *PFN_cuDeviceGetUuid_v9020)(CUuuid *uuid, CUdevice_v1 dev);
            typedef CUresult (CUDAAPI *PFN_cuDeviceGetProperties_v2000)(CUdevprop_v1 *prop, CUdevice_v1 dev);
            typedef CUresult (CUDAAPI *PFN_cuCtxSynchronize_v2000)(void);
            typedef CUresult (CUDAAPI *PFN_cuMemAlloc_v3020)(CUdeviceptr_v2 *pointer, size_t bytesize);
            typedef CUresult (CUDAAPI *PFN_cuMemAlloc_v2000)(CUdeviceptr_v1 *dptr, unsigned int bytesize);
            typedef CUresult(CUDAAPI *PFN_cuMemAllocAsync_v11020)(CUdeviceptr_v2 dptr[], size_t bytesize, CUstream hStream);
            typedef CUresult(CUDAAPI *PFN_cuMemAllocAsync_v11020_ptsz)(CUdeviceptr_v2* dptr, size_t bytesize, CUstream hStream);
            typedef CUresult (CUDAAPI *PFN_cuMemFreeAsync_v11020)(CUdeviceptr_v2 dptr, CUstream hStream);
            typedef CUresult (CUDAAPI *PFN_cuMemFreeAsync_v11020_ptsz)(CUdeviceptr_v2 dptr, CUstream hStream);
            typedef CUresult (CUDAAPI *PFN_cuMemcpyDtoH_v2000)(void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount);
            typedef CUresult (CUDAAPI *PFN_cuMemcpyDtoH_v3020)(void *dstHost, CUdeviceptr_v2 srcDevice, size_t ByteCount);
            typedef CUresult (CUDAAPI *PFN_cuMemcpyDtoH_v7000_ptds)(void *dstHost, CUdeviceptr_v2 srcDevice, size_t ByteCount);
            typedef CUresult (CUDAAPI *PFN_cuMemcpy2DAsync_v3020)(const CUDA_MEMCPY2D_v2 *pCopy, CUstream hStream);
            typedef CUresult (CUDAAPI *PFN_cuMemcpy2DAsync_v7000_ptsz)(const CUDA_MEMCPY2D_v2 *pCopy, CUstream hStream);
            typedef CUresult (CUDAAPI *PFN_cuMemsetD2D16_v3020)(CUdeviceptr_v2 d, size_t p, unsigned short us, size_t w, size_t h);
            typedef CUresult (CUDAAPI *PFN_cuMemPrefetchBatchAsync_v13000)(CUdeviceptr_v2 *d, size_t *s, size_t n, CUstream stream);
            typedef CUresult (CUDAAPI *PFN_cuMemBatchDecompressAsync_v12060)(void *paramsArray, size_t count, CUstream stream);
            typedef CUresult (CUDAAPI *PFN_cuLaunchEverywhere_v9000)(unsigned int numDevices);
            typedef CUresult (CUDAAPI *PFN_cuLaunchKernel_v4000)(CUfunction f, unsigned int x, unsigned int y, unsigned int z, unsigned int bx, unsigned int by, unsigned int bz, unsigned int bytes, CUstream hStream);
            typedef CUresult (CUDAAPI *PFN_cuLaunchKernel_v7000_ptsz)(CUfunction f, unsigned int x, unsigned int y, unsigned int z, unsigned int bx, unsigned int by, unsigned int bz, unsigned int bytes, CUstream hStream);
            typedef CUresult (CUDAAPI *PFN_cuLaunchHostFunc_v10000)(CUstream hStream, CUhostFn fn, void *userData);
            typedef CUresult (CUDAAPI *PFN_cuLaunchHostFunc_v10000_ptsz)(CUstream hStream, CUhostFn fn, void *userData);
            typedef CUresult (CUDAAPI *PFN_cuMemGetInfo_v2000)(unsigned int *free, unsigned int *total);
            typedef CUresult (CUDAAPI *PFN_cuMemGetInfo_v3020)(size_t *free, size_t *total);
            """;
    private static final List<String> FIRST_VERSIONS_THAT_THE_TINY_SPEC_LEAVES_OUT = List.of(
            "cuMemcpyDtoH: missing; since 2000, parameters (void *, CUdeviceptr_v1, unsigned int)",
            "cuMemGetInfo: missing; since 2000, parameters (unsigned int *, unsigned int *)");

    @TempDir
    private Path toolkit;

    private List<String> differences(String typedefs, String declarations) throws Exception {
        var include = Files.createDirectories(toolkit.resolve("include"));
        for (var header : List.of("cudaGL", "cudaEGL", "cudaVDPAU", "cudaProfiler")) {
            Files.writeString(include.resolve(header + "Typedefs.h"), "");
        }
        Files.writeString(include.resolve("cudaTypedefs.h"), typedefs);
        Files.writeString(include.resolve("cuda.h"), declarations);
        return ToolkitComparison.of(Checkout.read(Checkout.tinySpec()).cuda(), ToolkitHeaders.read(toolkit)).stream()
                .filter(difference -> !FIRST_VERSIONS_THAT_THE_TINY_SPEC_LEAVES_OUT.contains(difference))
                .toList();
    }

    @Test
    void shouldFindNoDifferenceBehindOtherSpellings() throws Exception {
        assertThat(differences(SAME, "CUresult CUDAAPI cuInit(unsigned int Flags);")).isEmpty();
    }

    @Test
    void shouldNameNewVersionWithItsSymbol() throws Exception {
        var added = "typedef CUresult (CUDAAPI *PFN_cuMemAlloc_v14000)(CUdeviceptr_v2 *dptr,\n    int node);";

        assertThat(differences(SAME + added, ""))
                .containsExactly("cuMemAlloc_v3: missing; since 14000, parameters (CUdeviceptr *, int)");
    }

    @Test
    void shouldNameNewTwin() throws Exception {
        assertThat(differences(SAME + "typedef CUresult (CUDAAPI *PFN_cuCtxSynchronize_v14000_ptsz)(void);", ""))
                .containsExactly("cuCtxSynchronize_ptsz: missing; since 14000, parameters ()");
    }

    @Test
    void shouldNameOtherVersionAndOtherParameters() throws Exception {
        var typedefs = SAME.replace("cuInit_v2000)(unsigned Flags)", "cuInit_v2010)(unsigned long long Flags)");

        assertThat(differences(typedefs, "")).containsExactly(
                "cuInit: since 2000 here, 2010 in the toolkit",
                "cuInit: parameters (unsigned int) here, (unsigned long long) in the toolkit");
    }

    @Test
    void shouldNameWhatTheToolkitLacks() throws Exception {
        assertThat(differences(SAME.replaceFirst("typedef.*cuInit.*\n", ""), "")).containsExactly("cuInit: not in the toolkit");
    }

    @Test
    void shouldNameDeclarationWithoutFunctionPointerType() throws Exception {
        assertThat(differences(SAME, "/* CUresult CUDAAPI cuOld(void); */ CUresult CUDAAPI cuNew(void);"))
                .containsExactly("cuNew: missing; declared in cuda.h without a function pointer type");
    }

    @Test
    void shouldAgreeWithTheInstalledToolkit() throws Exception {
        var installed = installed();
        assumeTrue(installed.isPresent(), "no CUDA 13.0 toolkit in $CUDA_HOME, /usr/local/cuda or /usr/local/cuda-13.0");

        assertThat(ToolkitComparison.of(Checkout.read(Checkout.spec()).cuda(), ToolkitHeaders.read(installed.get()))).isEmpty();
    }

    private static Optional<Path> installed() {
        return Stream.of(System.getenv("CUDA_HOME"), "/usr/local/cuda", "/usr/local/cuda-13.0")
                .filter(Objects::nonNull)
                .map(Path::of)
                .filter(ToolkitComparisonTest::isVersion13)
                .findFirst();
    }

    private static boolean isVersion13(Path toolkit) {
        try (var lines = Files.lines(toolkit.resolve("include/cuda.h"))) {
            return lines.anyMatch(line -> line.matches("#define\\s+CUDA_VERSION\\s+13000"))
                    && Files.exists(toolkit.resolve("include/cudaTypedefs.h"));
        } catch (Exception absent) {
            return false;
        }
    }
}
