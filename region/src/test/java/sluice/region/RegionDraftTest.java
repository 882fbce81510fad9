package sluice.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RegionDraftTest {
    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", ".hidden", "-x", "a/b", "a b", "ä", "a\n", "0123456789012345678901234567890123456789012345678901234567890123"})
    void shouldRefuseNamesThatAreNoFileNames(String name) {
        assertThatThrownBy(() -> RegionDraft.checkName(name)).hasMessageContaining("bad tenant name");
    }

    @Test
    void shouldMakeANameFromTheProgram() {
        assertThat(RegionDraft.nameFor("/usr/bin/python3.12", 42)).isEqualTo("python3.12-42");
        assertThat(RegionDraft.nameFor("./.hid den", 42)).isEqualTo("_hid_den-42");
        assertThat(RegionDraft.nameFor("x".repeat(100), 4194303)).hasSize(63).endsWith("-4194303");
        assertThat(RegionDraft.nameFor("/tmp/", 1)).isEqualTo("program-1");
    }
}
