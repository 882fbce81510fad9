package sluice.trace;

/// Names of the driver's entry points by the library's numbers.
final class EntryNames {
    private EntryNames() {}

    static String of(int entry) {
        return "entry " + entry;
    }
}
