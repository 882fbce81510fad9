package sluice.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Optional;

/// Turns a record of method handles into bound calls. A symbol that is not there becomes a call that answers `missing`.
record Symbols(Finder finder, int missing) {

    interface Finder {
        Optional<MemorySegment> find(String symbol, int since);
    }

    /// Opens a library as `dlopen` finds it; empty when there is none.
    @SuppressWarnings("restricted")
    static Optional<SymbolLookup> library(String name) {
        try {
            return Optional.of(SymbolLookup.libraryLookup(name, Arena.global()));
        } catch (IllegalArgumentException notFound) {
            return Optional.empty();
        }
    }

    <R extends Record> R bind(Class<R> type) {
        RecordComponent[] components = type.getRecordComponents();
        Object[] handles = Arrays.stream(components).map(this::handle).toArray();
        Class<?>[] types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
        try {
            return type.getDeclaredConstructor(types).newInstance(handles);
        } catch (ReflectiveOperationException impossible) {
            throw new AssertionError(type + " must be a record of method handles", impossible);
        }
    }

    private MethodHandle handle(RecordComponent component) {
        Entry entry = component.getAnnotation(Entry.class);
        FunctionDescriptor descriptor = descriptor(entry.takes());
        return finder.find(component.getName(), entry.since())
                .map(address -> downcall(address, descriptor))
                .orElseGet(() -> answers(missing, descriptor));
    }

    @SuppressWarnings("restricted")
    static MethodHandle downcall(MemorySegment address, FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(address, descriptor);
    }

    static FunctionDescriptor descriptor(String takes) {
        return FunctionDescriptor.of(JAVA_INT, takes.chars().mapToObj(Symbols::layout).toArray(MemoryLayout[]::new));
    }

    /// CUipcMemHandle, the only structure that is given by value.
    static final MemoryLayout IPC_HANDLE = MemoryLayout.structLayout(MemoryLayout.sequenceLayout(8, JAVA_LONG));

    private static MemoryLayout layout(int letter) {
        return switch (letter) {
            case 'P' -> ADDRESS;
            case 'L' -> JAVA_LONG;
            case 'I' -> JAVA_INT;
            case 'H' -> IPC_HANDLE;
            default -> throw new IllegalArgumentException("parameter letter " + (char) letter + ": use P, L, I or H");
        };
    }

    private static MethodHandle answers(int status, FunctionDescriptor descriptor) {
        return MethodHandles.dropArguments(
                MethodHandles.constant(int.class, status), 0, descriptor.toMethodType().parameterList());
    }
}
