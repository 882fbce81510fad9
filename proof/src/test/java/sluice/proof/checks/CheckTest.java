package sluice.proof.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import sluice.proof.checks.Result.Outcome;
import sluice.proof.facts.CheckSkipped;
import sluice.proof.facts.Expect;
import sluice.proof.stage.Environment;

class CheckTest {
    private final Environment nowhere = new Environment(Path.of("/no/library.so"), Optional.empty());

    @Test
    void shouldPassWithWhatTheBodySaw() {
        Result result = new Check(Group.CHARGE, "name", stage -> "2 MiB charged").run(nowhere);
        assertThat(result.outcome()).isEqualTo(Outcome.PASSED);
        assertThat(result.detail()).isEqualTo("2 MiB charged");
        assertThat(result.group()).isEqualTo("charge");
        assertThat(result.name()).isEqualTo("name");
    }

    @Test
    void shouldFailWithWhatWasExpectedAndSeen() {
        Result result = run(stage -> {
            Expect.refused("cuMemAlloc", 0);
            return "unreachable";
        });
        assertThat(result.failed()).isTrue();
        assertThat(result.detail())
                .isEqualTo("cuMemAlloc answered 0 (CUDA_SUCCESS), expected 2 (CUDA_ERROR_OUT_OF_MEMORY)");
    }

    @Test
    void shouldSkipWithReason() {
        Result result = run(stage -> {
            throw new CheckSkipped("no NVML");
        });
        assertThat(result.outcome()).isEqualTo(Outcome.SKIPPED);
        assertThat(result.detail()).isEqualTo("no NVML");
    }

    @Test
    void shouldFailOnAnythingUnexpected() {
        Result result = run(stage -> {
            throw new IllegalStateException("surprise");
        });
        assertThat(result.failed()).isTrue();
        assertThat(result.detail()).contains("unexpected", "surprise");
    }

    @Test
    void shouldTryOnceMoreWhatDependsOnTime() {
        List<String> seen = new ArrayList<>(List.of("15 %", "25 %"));
        Check check = new Check(Group.COMPUTE, "name", stage -> {
            Expect.that(!seen.removeFirst().equals("15 %"), "it got 15 %");
            return "it got 25 %";
        });
        assertThat(check.timed().run(nowhere).outcome()).isEqualTo(Outcome.PASSED);
        seen.addAll(List.of("15 %", "25 %"));
        assertThat(check.timed().run(nowhere).detail()).isEqualTo("it got 25 %; at the first attempt: it got 15 %");
        seen.add("15 %");
        assertThat(check.attempt(nowhere).failed()).isTrue();
    }

    @Test
    void shouldNeverTryAgainWhatPassedABoundOfSafety() {
        List<String> seen = new ArrayList<>(List.of("35 %", "25 %"));
        Check check = new Check(Group.COMPUTE, "name", stage -> {
            Expect.safe(!seen.removeFirst().equals("35 %"), "it got 35 %");
            return "it got 25 %";
        });
        Result result = check.timed().run(nowhere);
        assertThat(result.failed()).isTrue();
        assertThat(result.detail()).isEqualTo("it got 35 %");
    }

    @Test
    void shouldLeaveNoFolderBehind() {
        AtomicReference<Path> folder = new AtomicReference<>();
        run(stage -> {
            folder.set(stage.runtimeDirectory().path());
            Files.writeString(folder.get().resolve("something"), "text");
            return "";
        });
        assertThat(folder.get()).doesNotExist();
    }

    private Result run(Check.Body body) {
        return new Check(Group.CHARGE, "name", body).run(nowhere);
    }
}
