package sluice.codegen.layout;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/// How a shared field is written and read.
enum Order {
    ONCE("written before the file is published, never again"),
    ATOMIC("one atomic load, store, add or compare-and-swap at a time; no order with other fields is implied"),
    RELEASE("stored with release, read with acquire: a reader that sees it also sees what was written before"),
    OWNER("written by the owner of the record before it publishes the record");

    private final String meaning;

    Order(String meaning) {
        this.meaning = meaning;
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    String meaning() {
        return meaning;
    }

    /// Whether the field may change while other processes read it.
    boolean concurrent() {
        return this == ATOMIC || this == RELEASE;
    }

    static Optional<Order> of(String word) {
        return Arrays.stream(values()).filter(order -> order.word().equals(word)).findFirst();
    }

    static String words() {
        return Arrays.stream(values()).map(Order::word).collect(Collectors.joining(", "));
    }
}
