package sluice.cuda;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Binds a record component of type MethodHandle to the entry point of the same name.
@Target(ElementType.RECORD_COMPONENT)
@Retention(RetentionPolicy.RUNTIME)
@interface Entry {
    /// The CUDA version from which `cuGetProcAddress` gives exactly this symbol; unused for NVML.
    int since() default 0;

    /// The parameters, one letter each: P pointer, L 64-bit integer or handle, I 32-bit integer, H a handle of 64 bytes for
    /// another process. All return an int.
    String takes();
}
