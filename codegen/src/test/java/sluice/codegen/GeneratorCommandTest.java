package sluice.codegen;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GeneratorCommandTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @TempDir
    private Path folder;

    private int run(Object... arguments) {
        var words = new String[arguments.length];
        for (int i = 0; i < words.length; i++) {
            words[i] = arguments[i].toString();
        }
        return GeneratorCommand.run(
                new PrintStream(out, true, StandardCharsets.UTF_8), new PrintStream(err, true, StandardCharsets.UTF_8), words);
    }

    @Test
    void shouldGenerateFromTheProjectsSpecs() {
        assertThat(run("generate", "--spec", Checkout.spec(), "--out", folder)).isZero();
        assertThat(err.toString(StandardCharsets.UTF_8)).isEmpty();
        assertThat(folder.resolve("native/trampolines.S")).isNotEmptyFile();
        assertThat(folder.resolve("java/sluice/region/layout/SlotView.java")).isNotEmptyFile();
        assertThat(folder.resolve("java/sluice/region/layout/BoardTurnView.java")).isNotEmptyFile();
    }

    @Test
    void shouldLeaveUnchangedFilesAlone() throws Exception {
        var file = folder.resolve("native/real.h");
        var longAgo = FileTime.fromMillis(1_000_000);
        run("generate", "--spec", Checkout.tinySpec(), "--out", folder);
        Files.setLastModifiedTime(file, longAgo);

        run("generate", "--spec", Checkout.tinySpec(), "--out", folder);
        assertThat(Files.getLastModifiedTime(file)).isEqualTo(longAgo);

        Files.writeString(file, "changed");
        run("generate", "--spec", Checkout.tinySpec(), "--out", folder);
        assertThat(file).content().startsWith("/* Generated from spec/cuda.api");
    }

    @Test
    void shouldReportAllWrongFilesAndWriteNothing() throws Exception {
        Files.writeString(folder.resolve("cuda.api"), "enum CUresult\ncuInit 2000 - chrage - void\n");
        Files.writeString(folder.resolve("nvml.api"), "nvmlX 1 - query - nvmlDevice_t device\n");
        Files.writeString(
                folder.resolve("region.abi"),
                Files.readString(Checkout.tinySpec().resolve("region.abi")).replace("layout 3", "layout three"));
        Files.writeString(folder.resolve("board.abi"), "layout 1\nmagic B\npage 4096\nplace turn 0 1\n");

        Files.copy(Checkout.tinySpec().resolve("trace.abi"), folder.resolve("trace.abi"));

        assertThat(run("generate", "--spec", folder, "--out", folder.resolve("out"))).isEqualTo(1);
        assertThat(err.toString(StandardCharsets.UTF_8).lines()).satisfiesExactly(
                line -> assertThat(line).startsWith(folder + "/cuda.api:2: unknown role 'chrage'; one of "),
                line -> assertThat(line).startsWith(folder + "/nvml.api:1: unknown type 'nvmlDevice_t'"),
                line -> assertThat(line).isEqualTo(folder + "/region.abi:8: write: layout N"),
                line -> assertThat(line).isEqualTo(folder + "/board.abi:4: unknown record 'turn'"));
        assertThat(folder.resolve("out")).doesNotExist();
    }

    @Test
    void shouldReportSpecThatIsNotText() throws Exception {
        for (var name : List.of("cuda.api", "nvml.api", "region.abi", "board.abi", "trace.abi")) {
            Files.copy(Checkout.tinySpec().resolve(name), folder.resolve(name));
        }
        Files.write(folder.resolve("nvml.api"), new byte[] {(byte) 0xff});

        assertThat(run("generate", "--spec", folder, "--out", folder)).isEqualTo(1);
        assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo(folder + "/nvml.api:1: the file is not UTF-8 text\n");
    }

    @Test
    void shouldNameMissingSpec() {
        assertThat(run("generate", "--spec", folder, "--out", folder)).isEqualTo(1);
        assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo(folder + "/cuda.api: not found\n");
    }

    @Test
    void shouldExplainUsage() {
        assertThat(run()).isEqualTo(2);
        assertThat(run("frobnicate")).isEqualTo(2);
        assertThat(run("generate", "--spec", folder)).isEqualTo(2);
        assertThat(run("compare", "--spec", folder, "--out", folder)).isEqualTo(2);
        assertThat(err.toString(StandardCharsets.UTF_8)).startsWith("usage: generate --spec DIR --out DIR");
    }
}
