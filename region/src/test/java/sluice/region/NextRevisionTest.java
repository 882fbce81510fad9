package sluice.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.region.calls.TenantCalls;
import sluice.region.layout.FormatView;
import sluice.region.layout.HeaderView;
import sluice.region.layout.LayoutPlaces;
import sluice.region.layout.RegionLayout;
import sluice.region.layout.SluiceVersion;
import sluice.region.limits.Limit;
import sluice.region.place.Identity;

/// A region that a later version of Sluice made: each of its records is 64 bytes larger, there is one more of them, and a bit that nobody knows yet.
class NextRevisionTest {
    private static final int MORE_BYTES = 64;
    private static final int NEXT_BIT = RegionLayout.FEATURE_NAMES.split(" ").length;

    @TempDir
    private Path folder;
    private Path file;

    /// Only page 0 stays as it is; what lies behind it moves.
    @BeforeEach
    void make() throws IOException {
        Path old = TestRegion.create(folder, "job", Identity.self());
        try (Region region = Region.openReadWrite(old)) {
            TestRegion.gpu(region, 0, 3);
            region.call(5).calls(7);
        }
        file = folder.resolve("next.region");
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try (Arena arena = Arena.ofConfined();
                FileChannel from = FileChannel.open(old, StandardOpenOption.READ);
                FileChannel to = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            convert(from.map(FileChannel.MapMode.READ_ONLY, 0, from.size(), arena), to.map(FileChannel.MapMode.READ_WRITE, 0, 2 * from.size(), arena));
        }
    }

    private static void convert(MemorySegment from, MemorySegment to) {
        List<LayoutPlaces.Place> places = RegionLayout.PLACES.list();
        MemorySegment.copy(from, 0, to, 0, RegionLayout.PAGE_BYTES);
        FormatView format = FormatView.of(to);
        long at = RegionLayout.PAGE_BYTES;
        for (int number = 0; number < places.size(); number++) {
            LayoutPlaces.Place place = places.get(number);
            if (place.offset() >= RegionLayout.PAGE_BYTES) {
                format.placeOffset(number, at);
                format.placeBytes(number, place.bytes() + MORE_BYTES);
                for (int index = 0; index < place.count(); index++, at += place.bytes() + MORE_BYTES) {
                    MemorySegment.copy(from, place.offset() + (long) index * place.bytes(), to, at, place.bytes());
                    to.asSlice(at + place.bytes(), MORE_BYTES).fill((byte) 0x55);
                }
            }
        }
        format.placeOffset(places.size(), at);
        format.placeBytes(places.size(), 64);
        format.placeCount(places.size(), 3);
        format.places(places.size() + 1);
        format.revision(RegionLayout.REVISION + 1);
        format.version("9.9.9");
        format.featuresOffered(RegionLayout.FEATURES | 2);
        format.featureNames(RegionLayout.FEATURE_NAMES + " tides");
        HeaderView.of(to).regionBytes(to.byteSize());
    }

    private void format(Consumer<FormatView> change) throws IOException {
        try (Arena arena = Arena.ofConfined(); FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            change.accept(FormatView.of(channel.map(FileChannel.MapMode.READ_WRITE, 0, RegionLayout.PAGE_BYTES, arena)));
        }
    }

    @Test
    void shouldReadRecordsWhereTheFileSaysTheyAre() {
        try (Region region = Region.openReadWrite(file); Ledger ledger = Ledger.claim(region, Identity.self())) {
            assertThat(ledger.reserve(0, 4096, 0)).isTrue();
            Tenant tenant = Tenant.read(file);

            assertThat(tenant.name()).isEqualTo("job");
            assertThat(tenant.gpus()).singleElement().satisfies(gpu -> {
                assertThat(gpu.index()).isEqualTo(3);
                assertThat(gpu.usedBytes()).isEqualTo(4096);
            });
            assertThat(tenant.processes()).singleElement().satisfies(process -> assertThat(process.alive()).isTrue());
            assertThat(TenantCalls.read(file).counts()).singleElement().satisfies(call -> assertThat(call.calls()).isEqualTo(7));
            assertThat(region.version()).isEqualTo("9.9.9");
            assertThat(region.revision()).isEqualTo(RegionLayout.REVISION + 1);
        }
    }

    @Test
    void shouldChangeItsLimits() {
        LimitsChange.of(Limit.MEMORY, "2g").apply(file);

        assertThat(Tenant.read(file).memory().bytes(0)).isEqualTo(2L << 30);
    }

    @Test
    void shouldRefuseAFeatureThatItMustKnow() throws Exception {
        format(format -> format.featuresRequired(1L << NEXT_BIT));

        assertThatThrownBy(() -> Tenant.read(file)).isInstanceOf(RegionException.UnknownFeature.class)
                .hasMessageContaining("'tides' (bit " + NEXT_BIT + ")").hasMessageContaining("9.9.9").hasMessageContaining(SluiceVersion.TEXT);
        format(format -> format.featuresRequired(1L << 63));
        assertThatThrownBy(() -> Tenant.read(file)).hasMessageContaining("(bit 63)");
    }

    @Test
    void shouldRefuseATableThatMakesNoSense() throws Exception {
        int slot = RegionLayout.SLOT_PLACE;
        for (Consumer<FormatView> damage : List.<Consumer<FormatView>>of(
                format -> format.placeOffset(slot, 1L << 62), format -> format.placeOffset(slot, -64), format -> format.placeOffset(slot, 4104),
                format -> format.placeBytes(slot, 0), format -> format.placeBytes(slot, 0x8000_0040L), format -> format.placeCount(slot, 511), format -> format.places(3))) {
            make(damage);
            assertThatThrownBy(() -> Tenant.read(file)).isInstanceOf(RegionException.Damaged.class);
        }
    }

    private void make(Consumer<FormatView> damage) throws IOException {
        Files.deleteIfExists(file);
        Files.deleteIfExists(folder.resolve("job.region"));
        make();
        format(damage);
    }
}
