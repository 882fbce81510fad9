package sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelsTest {
    @Test
    void shouldHoldTheKernels() {
        assertThat(Work.kernels()).contains(".entry sluice_empty(", ".entry sluice_spin(", ".entry sluice_stamp(",
                ".entry sluice_fill(", ".entry sluice_add(");
    }

    @Test
    void shouldBeAcceptedByTheAssembler(@TempDir Path folder) throws Exception {
        assumeTrue(hasAssembler(), "ptxas is not installed; the driver itself checks the PTX in sluice verify");
        Path source = Files.writeString(folder.resolve("kernels.ptx"), Work.kernels());
        Process ptxas = new ProcessBuilder(
                        "ptxas", "-arch=sm_90", "-o", folder.resolve("kernels.cubin").toString(), source.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(ptxas.getInputStream().readAllBytes());
        assertThat(ptxas.waitFor()).as(output).isZero();
    }

    private static boolean hasAssembler() throws InterruptedException {
        try {
            return new ProcessBuilder("ptxas", "--version").redirectErrorStream(true).start().waitFor() == 0;
        } catch (IOException absent) {
            return false;
        }
    }
}
