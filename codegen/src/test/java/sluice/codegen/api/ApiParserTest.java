package sluice.codegen.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.codegen.text.Problems;

class ApiParserTest {
    private static final List<String> TYPES =
            List.of("enum CUresult", "handle CUstream", "scalar CUdeviceptr = unsigned long long");

    private final Problems problems = new Problems();

    private ApiSpec parse(String... lines) {
        var all = new ArrayList<>(TYPES);
        all.addAll(List.of(lines));
        return ApiParser.parse(ApiFile.CUDA, "cuda.api", all, problems);
    }

    private List<String> problemsOf(String... lines) {
        parse(lines);
        return problems.lines();
    }

    @Test
    void shouldReadAnEntryPointWithItsTwin() {
        var entry = parse("# Memory", "cuMemFreeAsync 11020 ptsz:11020 refund hooked CUdeviceptr dptr, CUstream hStream")
                .entries().getFirst();

        assertThat(problems.lines()).isEmpty();
        assertThat(entry.twinSymbol()).contains("cuMemFreeAsync_ptsz");
        assertThat(entry.group()).isEqualTo("Memory");
        assertThat(entry.role()).isEqualTo(Role.REFUND);
        assertThat(entry.hooked()).isTrue();
        assertThat(entry.parameters())
                .containsExactly(new Parameter("CUdeviceptr", "dptr"), new Parameter("CUstream", "hStream"));
    }

    @Test
    void shouldNumberTwinsRightAfterTheirEntryPoints() {
        var symbols = parse("cuMemFreeAsync 11020 ptsz:11020 refund - CUdeviceptr dptr", "cuInit 2000 - init - unsigned int Flags")
                .symbols();

        assertThat(symbols).extracting(Symbol::name).containsExactly("cuMemFreeAsync", "cuMemFreeAsync_ptsz", "cuInit");
        assertThat(symbols).extracting(Symbol::index).containsExactly(0, 1, 2);
    }

    @Test
    void shouldWriteTypesInOneForm() {
        var entry = parse("cuX 2000 - forward - const  void* *a, unsigned int b[], const char *const *c").entries().getFirst();

        assertThat(entry.parameters()).extracting(Parameter::declaration)
                .containsExactly("const void **a", "unsigned int *b", "const char * const *c");
    }

    @Test
    void shouldTellTheApiNameAndGenerationFromTheSymbol() {
        var entry = parse("cuMemAlloc_v2 3020 - charge - CUdeviceptr *dptr").entries().getFirst();

        assertThat(entry.apiName()).isEqualTo("cuMemAlloc");
        assertThat(entry.generation()).isEqualTo(2);
    }

    @Test
    void shouldReportLineOfUnknownRole() {
        assertThat(problemsOf("", "cuInit 2000 - chrage hooked unsigned int Flags")).containsExactly(
                "cuda.api:5: unknown role 'chrage'; one of forward, charge, refund, launch, copy, sync, query, init, resolve");
    }

    @Test
    void shouldReportUnknownType() {
        assertThat(problemsOf("cuInit 2000 - init - CUflags *Flags")).containsExactly(
                "cuda.api:4: unknown type 'CUflags'; declare it with handle, enum, opaque, scalar, callback or struct");
    }

    @Test
    void shouldReportEveryWrongLineInOrder() {
        assertThat(problemsOf(
                        "cuInit 2000 - init", "cuInit 2000 - init - void", "cuInit 2000 - init - void", "cuY 1 - sync - void"))
                .containsExactly(
                        "cuda.api:4: 4 columns instead of 6: symbol, since, per-thread, role, hook, parameters",
                        "cuda.api:6: duplicate symbol 'cuInit'; first in line 5",
                        "cuda.api:7: bad version '1'; a CUDA version is major*1000 + minor*10, for example 12040");
    }

    @Test
    void shouldReportUnknownHookColumn() {
        assertThat(problemsOf("cuInit 2000 - init yes void"))
                .containsExactly("cuda.api:4: unknown hook 'yes'; one of -, hooked, gated, counted");
    }

    @Test
    void shouldReportBadTwin() {
        assertThat(problemsOf("cuInit 2000 ptz:7000 init - void"))
                .containsExactly("cuda.api:4: bad per-thread twin 'ptz:7000'; write ptsz:VERSION, ptds:VERSION or -");
    }

    @Test
    void shouldReportTwinThatClashesWithASymbol() {
        assertThat(problemsOf("cuX_ptsz 2000 - sync - void", "cuX 2000 ptsz:7000 sync - void"))
                .containsExactly("cuda.api:5: per-thread twin 'cuX_ptsz' clashes with the symbol in line 4");
    }

    @Test
    void shouldReportTwinOlderThanItsEntryPoint() {
        assertThat(problemsOf("cuX 8000 ptsz:7000 sync - void"))
                .containsExactly("cuda.api:4: per-thread twin is older than 'cuX' itself");
    }

    @Test
    void shouldReportVersionsThatDoNotFollowTheSymbols() {
        assertThat(problemsOf("cuX 8000 - sync - void", "cuX_v2 8000 - sync - void"))
                .containsExactly("cuda.api:5: version 8000 of 'cuX_v2' does not fit 'cuX' of version 8000 in line 4");
    }

    @Test
    void shouldReportMisspeltDeclaration() {
        assertThat(problemsOf("handel CUarray")).containsExactly("cuda.api:4: 'handel' is neither one of handle, enum, opaque, "
                + "scalar, callback, struct nor an entry point, which begins with 'cu'");
    }

    @Test
    void shouldReportTypeDeclaredTwice() {
        assertThat(problemsOf("opaque CUstream")).containsExactly("cuda.api:4: type 'CUstream' is declared twice");
    }

    @Test
    void shouldReportOpaqueTypeByValue() {
        assertThat(problemsOf("opaque CUdevprop", "cuX 2000 - forward - CUdevprop prop"))
                .containsExactly("cuda.api:5: 'CUdevprop' cannot be passed by value");
    }

    @Test
    void shouldReportParameterWithoutName() {
        assertThat(problemsOf("cuX 2000 - forward - unsigned int, int b"))
                .containsExactly("cuda.api:4: 'unsigned int' is not a type and a name");
    }

    @Test
    void shouldReportHookWithoutParameters() {
        assertThat(problemsOf("cuX 0 - forward hooked ?"))
                .containsExactly("cuda.api:4: 'cuX' is hooked but has no parameters; write them out");
    }

    @Test
    void shouldReportGeneratedHookOfACallThatSubmitsNothing() {
        assertThat(problemsOf("cuX 2000 - forward counted void", "cuY 2000 - launch gated void")).containsExactly(
                "cuda.api:4: 'cuX' is counted, but only calls of role launch, copy can be",
                "cuda.api:5: 'cuY' is gated, but only calls of role copy can be");
    }

    @Test
    void shouldReportMalformedDeclarations() {
        assertThat(problemsOf("scalar CUdevice int", "callback CUfn void", "struct CUpair { int a }", "enum 1st")).containsExactly(
                "cuda.api:4: not a scalar; write: scalar NAME = C-TYPE",
                "cuda.api:5: not a callback; write: callback NAME = RETURN (PARAMETERS)",
                "cuda.api:6: not a struct; write: struct NAME { TYPE FIELD; ... }",
                "cuda.api:7: '1st' is not a name; write: enum NAME...");
    }
}
