package sluice.proof.checks;

import static sluice.proof.stage.Stage.GIB;
import static sluice.proof.stage.Stage.MIB;

import java.util.ArrayList;
import java.util.List;
import sluice.cuda.Status;
import sluice.proof.facts.CheckSkipped;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;
import sluice.proof.stage.TestTenant;

/// Arrays: charged with the memory of the driver's layout, which only the driver knows.
public final class ArrayChecks {
    private static final int BYTES = 1;
    private static final int WORDS = 2;
    private static final int FLOATS = 0x20;
    private static final long TILES_BYTES = 2 * MIB;

    private ArrayChecks() {}

    private record Kind(String create, String destroy) {}

    private static final Kind FLAT = new Kind("create", "destroy");
    private static final Kind DEEP = new Kind("create-3d", "destroy");
    private static final Kind MIPMAPPED = new Kind("create-mipmapped", "destroy-mipmapped");

    public static List<Check> checks() {
        return List.of(
                new Check(Group.ARRAYS, "arrays of one and two dimensions are charged as the driver takes them",
                        stage -> charged(stage, FLAT, List.of(shape(1024, 1024, 0, FLOATS, 4), shape(1000, 1000, 0, BYTES, 1),
                                shape(16, 16, 0, FLOATS, 1), shape(4096, 4096, 0, WORDS, 4), shape(65536, 0, 0, FLOATS, 1)))).about(MemoryWay.ARRAY),
                new Check(Group.ARRAYS, "arrays of three dimensions, likewise",
                        stage -> charged(stage, DEEP, List.of(shape(100, 100, 100, FLOATS, 1), shape(513, 257, 33, WORDS, 2)))).about(MemoryWay.ARRAY),
                new Check(Group.ARRAYS, "mipmapped arrays, likewise",
                        stage -> charged(stage, MIPMAPPED, List.of(mipmapped(2048, 2048, 12), mipmapped(333, 777, 3)))).about(MemoryWay.MIPMAPPED_ARRAY),
                new Check(Group.ARRAYS, "twenty small arrays, likewise", ArrayChecks::small).about(MemoryWay.ARRAY),
                new Check(Group.ARRAYS, "memory mapped into a sparse array is charged until nothing holds it", ArrayChecks::sparse)
                        .about(MemoryWay.SPARSE_ARRAY),
                new Check(Group.ARRAYS, "arrays are held to the quota", ArrayChecks::held).about(MemoryWay.ARRAY, MemoryWay.MIPMAPPED_ARRAY));
    }

    private static Object[] shape(long width, long height, long depth, int format, int channels) {
        return new Object[] {width, height, depth, format, channels};
    }

    private static Object[] mipmapped(long width, long height, int levels) {
        return new Object[] {width, height, 0L, FLOATS, 1, levels};
    }

    private static ProbeProcess probe(Stage stage, TestTenant tenant) {
        ProbeProcess probe = stage.in(tenant);
        stage.needHook(probe, "cuArrayCreate_v2", "cuArray3DCreate_v2", "cuArrayDestroy", "cuMipmappedArrayCreate", "cuMipmappedArrayDestroy");
        return probe;
    }

    private static Facts create(ProbeProcess probe, Kind kind, Object[] shape) {
        List<Object> arguments = new ArrayList<>(List.of(kind.create()));
        arguments.addAll(List.of(shape));
        return probe.ask("array", arguments.toArray());
    }

    private static String charged(Stage stage, Kind kind, List<Object[]> shapes) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        Balance balance = Balance.start(stage, tenant);
        List<String> seen = new ArrayList<>();
        for (Object[] shape : shapes) {
            String name = shape[0] + "×" + shape[1] + (shape[2].equals(0L) ? "" : "×" + shape[2]);
            Facts created = create(probe, kind, shape);
            Expect.success("an array of " + name, created.status());
            seen.add(name + ": " + Balance.text(balance.check("of an array of " + name)));
            Expect.success("its end", probe.ask("array", kind.destroy(), created.number("handle")).status());
            balance.checkNothing("after its end");
        }
        return String.join(", ", seen);
    }

    private static String small(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        Balance balance = Balance.start(stage, tenant);
        List<Long> arrays = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            arrays.add(create(probe, FLAT, shape(16, 16, 0, FLOATS, 1)).number("handle"));
        }
        long charged = balance.check("of twenty arrays of 16×16");
        for (long array : arrays) {
            Expect.success("cuArrayDestroy", probe.ask("array", "destroy", array).status());
        }
        balance.checkNothing("after their end");
        return Balance.text(charged) + " for all of them";
    }

    /// The whole array in one rectangle, of 1 MiB.
    private static String sparse(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        stage.needHook(probe, "cuMemMapArrayAsync");
        Balance balance = Balance.start(stage, tenant);
        Facts created = probe.ask("array", "create-sparse", 512, 512, 0, FLOATS, 1);
        if (created.status() == Status.NOT_SUPPORTED) {
            throw new CheckSkipped("this driver has no sparse arrays");
        }
        Expect.success("a sparse array", created.status());
        long array = created.number("handle");
        Expect.near("the charge of an empty sparse array", 0, balance.check("of an empty sparse array"));
        long empty = balance.chargedBytes();
        long handle = probe.ask("physical", "create-tiles", TILES_BYTES).number("handle");
        Object[] place = {array, 0, 0, 512, 512};
        Expect.success("cuMemMapArrayAsync", mapped(probe, "map", place, handle));
        Expect.success("cuMemRelease", probe.ask("physical", "release", handle).status());
        Expect.success("cuStreamSynchronize", probe.ask("pool", "sync").status());
        Expect.bytes("the charge while it is mapped", empty + TILES_BYTES, balance.check("while it is mapped"));
        Expect.success("cuMemMapArrayAsync to unmap", mapped(probe, "unmap", place, 0));
        Expect.success("cuStreamSynchronize", probe.ask("pool", "sync").status());
        Expect.bytes("the charge after it is unmapped", empty, balance.check("after it is unmapped"));
        Expect.success("cuArrayDestroy", probe.ask("array", "destroy", array).status());
        return Balance.text(TILES_BYTES) + " from the mapping to its end, although the handle was released";
    }

    private static int mapped(ProbeProcess probe, String verb, Object[] place, long handle) {
        return probe.ask("array", verb, place[0], place[1], place[2], place[3], place[4], handle).status();
    }

    private static String held(Stage stage) {
        TestTenant tenant = stage.tenant(8 * GIB);
        ProbeProcess probe = probe(stage, tenant);
        tenant.setRoom(160 * MIB);
        Expect.success("an array of 128 MiB", create(probe, FLAT, shape(4096, 4096, 0, WORDS, 4)).status());
        long before = tenant.chargedBytes();
        Expect.refused("another one", create(probe, FLAT, shape(4096, 4096, 0, WORDS, 4)).status());
        Expect.refused("one of three dimensions", create(probe, DEEP, shape(256, 256, 256, FLOATS, 4)).status());
        Expect.refused("a mipmapped one", create(probe, MIPMAPPED, mipmapped(8192, 8192, 4)).status());
        Expect.bytes("the charge after the refusals", before, tenant.chargedBytes());
        return "128 MiB of 160 MiB allowed, more refused in every form";
    }
}
