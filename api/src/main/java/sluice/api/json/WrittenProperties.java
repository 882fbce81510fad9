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

/// Writes each property in the order in which a description asks for it.
record WrittenProperties<S>(JsonGenerator json, S subject, int place) implements JsonProperties<S> {
    @Override
    public String text(String name, Function<S, String> value) {
        String text = value.apply(subject);
        json.writeStringProperty(name, text);
        return text;
    }

    @Override
    public long number(String name, ToLongFunction<S> value) {
        long number = value.applyAsLong(subject);
        json.writeNumberProperty(name, number);
        return number;
    }

    @Override
    public int count(String name, ToIntFunction<S> value) {
        int number = value.applyAsInt(subject);
        json.writeNumberProperty(name, number);
        return number;
    }

    @Override
    public String textIf(String name, Function<S, String> value) {
        return text(name, value);
    }

    @Override
    public long numberIf(Predicate<S> told, String name, ToLongFunction<S> value) {
        return told.test(subject) ? number(name, value) : 0;
    }

    @Override
    public boolean flag(String name, Predicate<S> value) {
        boolean flag = value.test(subject);
        json.writeBooleanProperty(name, flag);
        return flag;
    }

    @Override
    public boolean flagIf(String name, Predicate<S> value) {
        return flag(name, value);
    }

    @Override
    public long[] numbers(String name, Function<S, long[]> values) {
        long[] numbers = values.apply(subject);
        json.writeArrayPropertyStart(name);
        for (long number : numbers) {
            json.writeNumber(number);
        }
        json.writeEndArray();
        return numbers;
    }

    @Override
    public List<String> texts(String name, Function<S, List<String>> values) {
        List<String> texts = values.apply(subject);
        json.writeArrayPropertyStart(name);
        texts.forEach(json::writeString);
        json.writeEndArray();
        return texts;
    }

    @Override
    public <E, T> T object(String name, Function<S, E> part, Function<JsonProperties<E>, T> description) {
        json.writeObjectPropertyStart(name);
        T made = description.apply(new WrittenProperties<>(json, part.apply(subject), 0));
        json.writeEndObject();
        return made;
    }

    @Override
    public <E, T> Optional<T> objectIf(String name, Function<S, Optional<E>> part, Function<JsonProperties<E>, T> description) {
        Optional<E> there = part.apply(subject);
        return there.isEmpty() ? Optional.empty() : Optional.of(object(name, any -> there.get(), description));
    }

    @Override
    public <E, T> List<T> objects(String name, Function<S, List<E>> parts, Function<JsonProperties<E>, T> description) {
        List<E> all = parts.apply(subject);
        List<T> made = new ArrayList<>(all.size());
        json.writeArrayPropertyStart(name);
        for (E part : all) {
            json.writeStartObject();
            made.add(description.apply(new WrittenProperties<>(json, part, made.size())));
            json.writeEndObject();
        }
        json.writeEndArray();
        return made;
    }

    @Override
    public void also(BiConsumer<JsonGenerator, S> derived) {
        derived.accept(json, subject);
    }
}
