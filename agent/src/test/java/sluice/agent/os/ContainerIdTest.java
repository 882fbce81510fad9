package sluice.agent.os;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ContainerIdTest {
    private static final String ID = "3f0a".repeat(16);
    private static final String OUTER = "12cd".repeat(16);

    @ParameterizedTest
    @ValueSource(strings = {
        "0::/system.slice/docker-ID.scope",
        "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod2d3a.slice/cri-containerd-ID.scope",
        "0::/kubepods/burstable/pod6f1e7e0c-1b0a-4b8e-9a55-0f2c6a4a1d11/ID",
        "0::/machine.slice/libpod-ID.scope/container",
        "0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-ID.scope",
        "12:devices:/docker/ID\n11:memory:/docker/ID\n1:name=systemd:/docker/ID\n0::/",
        "4:memory:/kubepods.slice/kubepods-pod1.slice/crio-ID.scope",
        "0::/ecs/0123456789abcdef0123456789abcdef/ID",
        "0::/docker/OUTER/docker/ID",
        "0::/../ID"})
    void shouldFindTheIdWhateverTheRuntime(String cgroup) {
        assertThat(ContainerId.parse(cgroup.replace("ID", ID).replace("OUTER", OUTER) + "\n")).isEqualTo(ID);
    }

    @Test
    void shouldTakeTheNameWhereThereIsNoId() {
        assertThat(ContainerId.parse("0::/lxc.payload.web/init.scope\n")).isEqualTo("web");
        assertThat(ContainerId.parse("9:cpu:/lxc/web\n")).isEqualTo("web");
        assertThat(ContainerId.parse("0::/machine.slice/machine-web.scope/payload\n")).isEqualTo("web");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0::/\n", "0::/user.slice/user-1000.slice/session-2.scope\n", "0::/system.slice/cafe.service\n", "nonsense",
        "0::/x/12345678901234567890123456789012345678901234567890123456789012345678901234567890\n"})
    void shouldFindNoneWhereThereIsNone(String cgroup) {
        assertThat(ContainerId.parse(cgroup)).isEmpty();
    }

    @Test
    void shouldAskTheKernel() {
        assertThat(ContainerId.of(4_000_000)).isEmpty();
    }
}
