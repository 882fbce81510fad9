package sluice.agent.metrics;

import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;
import java.util.Optional;
import sluice.agent.machine.MachineLook;
import sluice.agent.machine.MachineLook.TenantLook;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.boards.BoardState;
import sluice.region.calls.TenantCalls;
import sluice.region.place.SluiceException;

/// The input of a scrape: a look, as its caller may see it, and the exported tenants.
///
/// @param leftOut how many tenants are not exported because there are too many
record MetricsScrape(MachineLook look, List<ScrapedTenant> tenants, int leftOut) {
    /// @param calls empty when its counters cannot be read
    record ScrapedTenant(TenantLook look, MetricsPlace place, Optional<TenantCalls> calls) {
        static ScrapedTenant of(TenantLook look) {
            MetricsPlace place = MetricsPlace.of(look.claim());
            try {
                return new ScrapedTenant(look, place, Optional.of(TenantCalls.read(look.tenant().file())).filter(TenantCalls::known));
            } catch (SluiceException e) {
                return new ScrapedTenant(look, place, Optional.empty());
            }
        }

        Tenant tenant() {
            return look.tenant();
        }

        /// Labels of the tenant itself.
        Labels labels() {
            return MetricsPage.labels("tenant", tenant().name(), "uid", Long.toString(tenant().uid()), "namespace", place.namespace(), "pod", place.pod(),
                    "container", place.container(), "claim", place.claim());
        }

        /// Its pod, for readers that expect one: the tenant's name, in a namespace for each user.
        MetricsPlace placeOrUser() {
            return !place.pod().isEmpty() ? place : new MetricsPlace("user-" + tenant().uid(), tenant().name(), tenant().name(), "");
        }
    }

    Optional<BoardState> board(Tenant tenant, TenantGpu gpu) {
        return look.boards().stream().map(MachineLook.BoardLook::state)
                .filter(board -> board.uuid().equals(gpu.uuid()) && board.tenant(tenant.createdNanos()).isPresent()).findFirst();
    }
}
