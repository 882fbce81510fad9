package sluice.codegen.text;

import java.util.Locale;

/// Names of the spec in the three forms that Java uses.
public final class JavaNames {
    private JavaNames() {}

    /// `charged_bytes` → `chargedBytes`
    public static String camel(String name) {
        var pascal = pascal(name);
        return Character.toLowerCase(pascal.charAt(0)) + pascal.substring(1);
    }

    /// `charged_bytes` → `ChargedBytes`
    public static String pascal(String name) {
        var pascal = new StringBuilder();
        for (var word : name.split("_")) {
            pascal.append(Character.toUpperCase(word.charAt(0))).append(word.substring(1));
        }
        return pascal.toString();
    }

    /// `charged_bytes` → `CHARGED_BYTES`
    public static String constant(String name) {
        return name.toUpperCase(Locale.ROOT);
    }
}
