package sluice.it.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sluice.fault.Fault;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.region.Ledger;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;

/// C and Java processes in one region: both count in the same accounts and neither passes the quota.
class RegionRaceTest extends OnMachine {
    private static final long PIECE = 8 << 20;
    private static final long QUOTA = 1 << 30;
    private static final int FIRST_GPU = 0;

    @Test
    @Fault(kind = Fault.Kind.EXHAUST, of = "a quota, by many processes at once")
    void shouldNeverPassTheQuotaTogether() throws Exception {
        Path file = Region.create(new RuntimeDirectory(machine.runtimeDirectory()),
                new RegionDraft("race", "race", Identity.self(), OnError.FAIL, MemoryLimits.of(QUOTA)));
        var settings = Map.of("SLUICE_REGION", file.toString());
        machine.preloaded(settings, Machine.program("hog"), "--count", "1");

        try (Region region = Region.openReadWrite(file); Ledger ledger = Ledger.claim(region, Identity.self())) {
            assertThat(region.gpu(FIRST_GPU).owner()).isEqualTo(1);
            List<Process> hogs = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                hogs.add(machine.startPreloaded(settings, Machine.program("hog"), "--step", "8m", "--hold", "60000"));
            }
            long pieces = 0;
            for (int attempt = 0; attempt < 2000; attempt++) {
                if (ledger.reserve(FIRST_GPU, PIECE, QUOTA)) {
                    pieces++;
                }
                Thread.sleep(0, 200_000);
            }
            for (Process hog : hogs) {
                pieces += piecesOf(hog);
            }
            // Two that ask for the last piece at the same moment may both be refused; nobody else asks now.
            while (ledger.reserve(FIRST_GPU, PIECE, QUOTA)) {
                pieces++;
            }
            assertThat(pieces).isEqualTo(QUOTA / PIECE);
            assertThat(ledger.sum(FIRST_GPU)).isEqualTo(QUOTA);

            for (Process hog : hogs) {
                hog.destroyForcibly().waitFor();
            }
            assertThat(ledger.sum(FIRST_GPU)).isEqualTo(region.account(ledger.slot(), FIRST_GPU).chargedBytes());
        }
    }

    private static long piecesOf(Process hog) throws Exception {
        return Long.parseLong(Machine.awaitLine(hog, "got ").split(" ")[1]);
    }
}
