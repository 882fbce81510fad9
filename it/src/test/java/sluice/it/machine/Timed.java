package sluice.it.machine;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Isolated;

/// The test measures time, which a busy machine spoils. It runs after those that do not, and a class of such tests runs alone; a class that has
/// other tests too is `@Isolated`. No test runs again: lower bounds are looked at again one by one, by [Again].
@Tag("timed")
@Isolated
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface Timed {}
