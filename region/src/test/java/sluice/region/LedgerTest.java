package sluice.region;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.place.Identity;

class LedgerTest {
    @TempDir
    private Path folder;

    @Test
    void shouldRefuseWhatPassesTheQuota() throws Exception {
        try (Region region = Region.openReadWrite(TestRegion.create(folder, "job", Identity.self()));
                Ledger ledger = Ledger.claim(region, Identity.self())) {
            assertThat(ledger.reserve(0, 600, 1000)).isTrue();
            assertThat(ledger.reserve(0, 401, 1000)).isFalse();
            assertThat(ledger.reserve(0, 400, 1000)).isTrue();
            ledger.refund(0, 1000);
            assertThat(ledger.sum(0)).isZero();
        }
    }

    @Test
    void shouldNeverPassTheQuotaInARace() throws Exception {
        int threads = 4;
        try (Region region = Region.openReadWrite(TestRegion.create(folder, "job", Identity.self()));
                var pool = Executors.newFixedThreadPool(threads)) {
            List<Callable<Integer>> jobs = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                Ledger ledger = Ledger.claim(region, Identity.self());
                jobs.add(() -> grab(ledger));
            }
            int pieces = 0;
            for (Future<Integer> future : pool.invokeAll(jobs)) {
                pieces += future.get();
            }
            assertThat(pieces).isBetween(1, 100);
        }
    }

    private static int grab(Ledger ledger) {
        int pieces = 0;
        for (int attempt = 0; attempt < 200; attempt++) {
            pieces += ledger.reserve(0, 10, 1000) ? 1 : 0;
        }
        return pieces;
    }

    @Test
    void shouldEmptyItsAccountsWhenItLeaves() throws Exception {
        try (Region region = Region.openReadWrite(TestRegion.create(folder, "job", Identity.self()))) {
            try (Ledger ledger = Ledger.claim(region, Identity.self())) {
                ledger.reserve(2, 100, 0);
            }
            assertThat(region.slot(0).owner()).isZero();
            assertThat(region.account(0, 2).chargedBytes()).isZero();
        }
    }
}
