package sluice.api.json;

import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import tools.jackson.core.JsonGenerator;

/// The properties of one JSON object, in one of two directions: written from a subject, or read from a document.
///
/// A description of a record is one method. It asks for each property, and makes the record from the answers, so a property has its
/// name and its type in one place. The description does not know the direction. When it writes, the answers are the subject's own values,
/// and the record that it makes is dropped.
///
/// @param <S> the subject, from which the properties are written
sealed interface JsonProperties<S> permits WrittenProperties, ReadProperties {
    String text(String name, Function<S, String> value);

    /// A text that documents of other versions may not have; it is then read as empty.
    String textIf(String name, Function<S, String> value);

    long number(String name, ToLongFunction<S> value);

    int count(String name, ToIntFunction<S> value);

    /// A number that is left out of some subjects, and then is read as 0.
    long numberIf(Predicate<S> told, String name, ToLongFunction<S> value);

    boolean flag(String name, Predicate<S> value);

    /// False if a document of an earlier version lacks it.
    boolean flagIf(String name, Predicate<S> value);

    long[] numbers(String name, Function<S, long[]> values);

    List<String> texts(String name, Function<S, List<String>> values);

    <E, T> T object(String name, Function<S, E> part, Function<JsonProperties<E>, T> description);

    /// An object that some subjects do not have.
    <E, T> Optional<T> objectIf(String name, Function<S, Optional<E>> part, Function<JsonProperties<E>, T> description);

    <E, T> List<T> objects(String name, Function<S, List<E>> parts, Function<JsonProperties<E>, T> description);

    /// Properties that follow from others: they are written, and never read.
    void also(BiConsumer<JsonGenerator, S> derived);

    /// The place of this object in its list, from 0 on.
    int place();

    /// Writes the properties of a subject into the open object.
    static <S> void write(JsonGenerator json, S subject, Function<JsonProperties<S>, ?> description) {
        description.apply(new WrittenProperties<>(json, subject, 0));
    }

    static <S> void writeObject(JsonGenerator json, S subject, Function<JsonProperties<S>, ?> description) {
        json.writeStartObject();
        write(json, subject, description);
        json.writeEndObject();
    }

    static <S> void writeObjects(JsonGenerator json, String name, List<S> subjects, Function<JsonProperties<S>, ?> description) {
        json.writeArrayPropertyStart(name);
        subjects.forEach(subject -> writeObject(json, subject, description));
        json.writeEndArray();
    }

    /// Makes the described record from a document.
    static <S, T> T read(JsonTree json, Function<JsonProperties<S>, T> description) {
        return description.apply(new ReadProperties<>(json, 0));
    }
}
