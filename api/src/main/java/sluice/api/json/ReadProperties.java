package sluice.api.json;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import tools.jackson.core.JsonGenerator;

/// Reads each property for which a description asks, by its name.
record ReadProperties<S>(JsonTree json, int place) implements JsonProperties<S> {
    @Override
    public String text(String name, Function<S, String> value) {
        return json.at(name).text();
    }

    @Override
    public long number(String name, ToLongFunction<S> value) {
        return json.at(name).number();
    }

    @Override
    public int count(String name, ToIntFunction<S> value) {
        return (int) json.at(name).number();
    }

    @Override
    public String textIf(String name, Function<S, String> value) {
        return json.has(name) ? json.at(name).text() : "";
    }

    @Override
    public long numberIf(Predicate<S> told, String name, ToLongFunction<S> value) {
        return json.numberOrZero(name);
    }

    @Override
    public boolean flag(String name, Predicate<S> value) {
        return json.at(name).isTrue();
    }

    @Override
    public boolean flagIf(String name, Predicate<S> value) {
        return json.has(name) && json.at(name).isTrue();
    }

    @Override
    public long[] numbers(String name, Function<S, long[]> values) {
        return json.at(name).elements().stream().mapToLong(JsonTree::number).toArray();
    }

    @Override
    public List<String> texts(String name, Function<S, List<String>> values) {
        return json.at(name).elements().stream().map(JsonTree::text).toList();
    }

    @Override
    public <E, T> T object(String name, Function<S, E> part, Function<JsonProperties<E>, T> description) {
        return description.apply(new ReadProperties<>(json.at(name), 0));
    }

    @Override
    public <E, T> Optional<T> objectIf(String name, Function<S, Optional<E>> part, Function<JsonProperties<E>, T> description) {
        return json.has(name) ? Optional.of(object(name, null, description)) : Optional.empty();
    }

    @Override
    public <E, T> List<T> objects(String name, Function<S, List<E>> parts, Function<JsonProperties<E>, T> description) {
        List<T> made = new ArrayList<>();
        for (JsonTree element : json.at(name).elements()) {
            made.add(description.apply(new ReadProperties<>(element, made.size())));
        }
        return List.copyOf(made);
    }

    @Override
    public void also(BiConsumer<JsonGenerator, S> derived) {
        // Made from what is read.
    }
}
