package sluice.proof.facts;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GpuProcessesTest {
    @Test
    void shouldReadWhatAProbeReports() {
        assertThat(GpuProcesses.parse("12:4096,7:0")).containsEntry(12L, 4096L).containsEntry(7L, 0L).hasSize(2);
        assertThat(GpuProcesses.parse("")).isEmpty();
    }
}
