package sluice.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/// The CUDA driver, opened by name. Nothing is called until a group of calls is used.
///
/// A symbol that the driver lacks answers [Status#NOT_FOUND].
public final class Driver {
    public static final String LIBRARY = "libcuda.so.1";

    /// How symbols are found: each by `dlsym`, or each by `cuGetProcAddress` as libcudart does it.
    public enum Route { DLSYM, PROC_ADDRESS }

    private final Symbols symbols;
    private Devices devices;
    private Memory memory;
    private VirtualMemory virtualMemory;
    private Work work;
    private Graphs graphs;
    private Pools pools;
    private Arrays arrays;
    private Contexts contexts;
    private Transfers transfers;
    private Sharing sharing;

    private Driver(Symbols.Finder finder) {
        symbols = new Symbols(finder, Status.NOT_FOUND);
    }

    /// Empty when this machine has no CUDA driver, or one without the wanted route.
    public static Optional<Driver> open(Route route) {
        return Symbols.library(LIBRARY).flatMap(library -> switch (route) {
            case DLSYM -> Optional.of(new Driver((symbol, since) -> library.find(symbol)));
            case PROC_ADDRESS -> procAddress(library).map(Driver::new);
        });
    }

    public static Driver require(Route route) {
        return open(route).orElseThrow(() -> new IllegalStateException(
                "no CUDA driver: " + LIBRARY + " is not found; install the NVIDIA driver, or use the simulated GPU (--sim)"));
    }

    /// The address that a program gets for a symbol, to see whose it is.
    public Optional<MemorySegment> address(String symbol, int since) {
        return symbols.finder().find(symbol, since);
    }

    public boolean has(String symbol, int since) {
        return symbols.finder().find(symbol, since).isPresent();
    }

    public synchronized Devices devices() {
        return devices != null ? devices : (devices = symbols.bind(Devices.class));
    }

    public synchronized Memory memory() {
        return memory != null ? memory : (memory = symbols.bind(Memory.class));
    }

    public synchronized VirtualMemory virtualMemory() {
        return virtualMemory != null ? virtualMemory : (virtualMemory = symbols.bind(VirtualMemory.class));
    }

    public synchronized Work work() {
        return work != null ? work : (work = symbols.bind(Work.class));
    }

    public synchronized Graphs graphs() {
        return graphs != null ? graphs : (graphs = symbols.bind(Graphs.class));
    }

    public synchronized Pools pools() {
        return pools != null ? pools : (pools = symbols.bind(Pools.class));
    }

    public synchronized Arrays arrays() {
        return arrays != null ? arrays : (arrays = symbols.bind(Arrays.class));
    }

    public synchronized Contexts contexts() {
        return contexts != null ? contexts : (contexts = symbols.bind(Contexts.class));
    }

    public synchronized Transfers transfers() {
        return transfers != null ? transfers : (transfers = symbols.bind(Transfers.class));
    }

    public synchronized Sharing sharing() {
        return sharing != null ? sharing : (sharing = symbols.bind(Sharing.class));
    }

    /// The API's name is the symbol without its version; (name, version it appeared in) names exactly one symbol.
    private static Optional<Symbols.Finder> procAddress(SymbolLookup library) {
        return library.find("cuGetProcAddress_v2").map(address -> {
            MethodHandle call = Symbols.downcall(address, Symbols.descriptor("PPILP"));
            return (symbol, since) -> ask(call, symbol.replaceFirst("_v\\d+$", ""), since);
        });
    }

    private static Optional<MemorySegment> ask(MethodHandle call, String name, int since) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment function = arena.allocate(ValueLayout.ADDRESS);
            MemorySegment found = arena.allocate(ValueLayout.JAVA_INT);
            int status = (int) call.invokeExact(arena.allocateFrom(name), function, since, 0L, found);
            MemorySegment address = function.get(ValueLayout.ADDRESS, 0);
            return status == Status.SUCCESS && address.address() != 0 ? Optional.of(address) : Optional.empty();
        } catch (Throwable thrown) {
            throw Calls.unexpected(thrown);
        }
    }
}
