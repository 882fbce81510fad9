package sluice.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SliceDriverTest {
    private static final String API = "# checked nothing\nchecked 580.159.03\nchecked 580.159.04\nescape FREE 0x29\n";
    private final SliceDriver known = SliceDriver.of(API, "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\nGCC version: 13.2\n");
    private final SliceDriver unknown = SliceDriver.of(API, "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.0  Release Build\n");

    @Test
    void shouldKnowTheVersionsOfTheSpec() {
        assertThat(known.isChecked()).isTrue();
        assertThat(unknown.isChecked()).isFalse();
        assertThat(SliceDriver.of(API, "").isChecked()).isFalse();
        assertThat(SliceDriver.ofMachine().checked()).contains("580.159.03").allMatch(version -> version.matches("[0-9.]+"));
    }

    @Test
    void shouldSayWhyTheLibraryWillNotTry() {
        assertThat(known.obstacle(null)).hasValue("time slices are off (SLUICE_SLICES)");
        assertThat(known.obstacle("0")).isPresent();
        assertThat(known.obstacle("auto")).isEmpty();
        assertThat(unknown.obstacle("auto")).hasValue("time slices were never checked with this version of the driver");
        assertThat(unknown.obstacle("1")).isEmpty();
    }

    @Test
    void shouldAdviseTheValueWithWhichTheLibraryTries() {
        assertThat(known.obstacle(known.advice().split("=")[1])).isEmpty();
        assertThat(unknown.obstacle(unknown.advice().split("=")[1])).isEmpty();
        assertThat(known.advice()).isEqualTo("SLUICE_SLICES=auto");
    }
}
