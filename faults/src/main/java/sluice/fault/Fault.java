package sluice.fault;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Locale;
import org.junit.jupiter.api.Tag;

/// The test brings a fault about, or an attack. It is one of the suite that `mvn verify -Pfaults` runs alone, and a row of the table that every
/// build prints. The mark of a method counts before that of its class.
@Tag("fault")
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface Fault {
    Kind kind();

    /// What is attacked.
    String of();

    enum Kind {
        /// A process ends at any instruction.
        KILL,
        /// A process lives and does nothing.
        STOP,
        /// A file, folder or name becomes another one between two looks.
        SWAP,
        /// Bytes are wrong.
        DAMAGE,
        /// Too much of something: memory, connections, files, starts.
        EXHAUST,
        /// Pids and names that mean something else elsewhere.
        NAMESPACES,
        /// Other users of the machine, and what they write.
        HOSTILE_USERS;

        String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }
}
