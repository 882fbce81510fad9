package sluice.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.cli.output.JsonValues;
import sluice.cli.tables.MadeUp;

class DoctorTest {
    @Test
    void shouldTellWhatIsEnforcedFromTheSpec() {
        HookList hooks = HookList.parse("""
                # comment
                handle   CUcontext
                cuMemAlloc        2000  -  charge  hooked  unsigned int *dptr, unsigned int bytesize
                cuMemAlloc_v2     3020  -  charge  hooked  CUdeviceptr *dptr, size_t bytesize
                cuArrayCreate_v2  3020  -  charge  -       CUarray *pHandle
                cuInit            2000  -  init    hooked  unsigned int Flags
                """);

        assertThat(hooks.enforced("charge")).containsExactly("cuMemAlloc");
        assertThat(hooks.notYet("charge")).containsExactly("cuArrayCreate");
        assertThat(hooks.notYet("init")).isEmpty();
    }

    @Test
    void shouldNameTheCallsOnlyWhenAsked() {
        HookList hooks = HookList.parse("""
                cuMemAlloc_v2     3020  -  charge  hooked  CUdeviceptr *dptr, size_t bytesize
                cuMemAllocManaged 6000  -  charge  hooked  CUdeviceptr *dptr, size_t bytesize, unsigned int flags
                cuMemGetInfo      2000  -  query   hooked  unsigned int *free, unsigned int *total
                """);

        assertThat(Doctor.enforced(hooks, false).text()).isEqualTo("memory of 2 calls; told as the tenant's own by 1 call (--calls names them)");
        assertThat(Doctor.enforced(hooks, true).text()).isEqualTo("memory of cuMemAlloc, cuMemAllocManaged; told as the tenant's own by cuMemGetInfo");
    }

    @Test
    void shouldReadTheSpecThatIsBuiltIn() {
        assertThat(HookList.read().enforced("charge")).contains("cuMemAlloc", "cuMemAllocPitch", "cuMemAllocManaged");
        assertThat(HookList.read().enforced("query")).contains("cuMemGetInfo", "cuDeviceTotalMem");
    }

    @Test
    void shouldWriteOneFindingPerLineWithItsAdvice() {
        assertThat(DoctorCommand.lines(List.of(Finding.ok("kernel", "Linux"), Finding.warn("driver", "none", "use --sim")), MadeUp.PLAIN))
                .containsExactly("ok    kernel: Linux", "warn  driver: none; use --sim");
    }

    @Test
    void shouldWrapLongFindings() {
        assertThat(DoctorCommand.lines(List.of(Finding.fail("list", "word ".repeat(40).strip(), "")), MadeUp.PLAIN))
                .hasSize(2)
                .allMatch(line -> line.length() < 120);
    }

    @Test
    void shouldWriteTheDoctorsFindings() {
        List<Finding> findings = List.of(Finding.ok("kernel", "fine"), Finding.fail("library", "it \"is\" gone", "build"));

        assertThat(JsonValues.of(out -> DoctorCommand.writeJson(out, findings)))
                .contains("/findings/0/level=ok", "/findings/1/level=fail", "/findings/1/text=it \"is\" gone", "/findings/1/advice=build");
    }
}
