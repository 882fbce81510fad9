package sluice.it;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Isolated;

/// The tests measure time, which a busy machine spoils. They run alone, after the others, and what fails runs again: see `pom.xml`.
@Tag("timed")
@Isolated
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@interface Timed {}
