package sluice.trace.report.output;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReportNamesTest {
    @Test
    void shouldReadMangledNames() {
        assertThat(ReportNames.readable("_ZN2at6native13reduce_kernelILi512EEEvT1_")).isEqualTo("at::native::reduce_kernel<…>");
        assertThat(ReportNames.readable("_Z6vecAddPfS_S_i")).isEqualTo("vecAdd");
        assertThat(ReportNames.readable("_ZN2at12_GLOBAL__N_14fillEv")).isEqualTo("at::(anonymous)::fill");
        assertThat(ReportNames.readable("flash_fwd")).isEqualTo("flash_fwd");
        assertThat(ReportNames.readable("_Z99999short")).isEqualTo("_Z99999short");
        assertThat(ReportNames.readable("_ZN")).isEqualTo("_ZN");
    }

    @Test
    void shouldWriteTimesInThreeDigits() {
        assertThat(ReportUnits.time(0)).isEqualTo("0 ns");
        assertThat(ReportUnits.time(999)).isEqualTo("999 ns");
        assertThat(ReportUnits.time(1_004)).isEqualTo("1.00 µs");
        assertThat(ReportUnits.time(999_700)).isEqualTo("1.00 ms");
        assertThat(ReportUnits.time(12_340_000_000L)).isEqualTo("12.3 s");
        assertThat(ReportUnits.time(303_000_000_000L)).isEqualTo("5 min 03 s");
    }
}
