package sluice.region.place;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class IdentityTest {
    @Test
    void shouldNameThisProcess() {
        Identity self = Identity.self();

        assertThat(self.pid()).isEqualTo(ProcessHandle.current().pid());
        assertThat(self.isAlive()).isTrue();
        assertThat(Identity.of(self.pid())).contains(self);
    }

    @Test
    void shouldTellAnotherProcessWithTheSamePidApart() {
        Identity self = Identity.self();
        Identity earlier = new Identity(self.startTicks() - 1 << 22 | self.pid());

        assertThat(earlier.pid()).isEqualTo(self.pid());
        assertThat(earlier.isAlive()).isFalse();
    }

    @Test
    void shouldTellAnotherProgramOfTheSameProcessApart() {
        Identity self = Identity.self();

        assertThat(self.isAlive(ProcessStat.read("self").image())).isTrue();
        assertThat(self.isAlive(12345)).isFalse();
    }

    @Test
    void shouldSeeThatAProcessHasEnded() throws Exception {
        Process process = new ProcessBuilder("sleep", "60").start();
        Identity identity = Identity.of(process.pid()).orElseThrow();
        assertThat(identity.isAlive()).isTrue();

        process.destroyForcibly().waitFor();

        assertThat(identity.isAlive()).isFalse();
    }
}
