package sluice.cli.process;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The environment for a program: `NAME=value` in bytes, in the order in which the variables came.
public final class Variables {
    private final List<byte[]> variables;

    public Variables(List<byte[]> variables) {
        this.variables = new ArrayList<>(variables);
    }

    public List<byte[]> list() {
        return variables;
    }

    /// The value, or null.
    public String value(String name) {
        int at = find(bytes(name + "="));
        return at < 0 ? null : RawProcess.text(variables.get(at)).substring(name.length() + 1);
    }

    public void set(String name, String value) {
        set(bytes(name + "=" + value));
    }

    /// Sets a variable that is given as `NAME=value`.
    public void set(byte[] variable) {
        int at = find(Arrays.copyOf(variable, nameLength(variable) + 1));
        if (at < 0) {
            variables.add(variable);
        } else {
            variables.set(at, variable);
        }
    }

    /// Restores variables that the launcher saved under a name with this prefix.
    public void restore(String prefix) {
        byte[] start = bytes(prefix);
        for (int at = 0; at < variables.size(); at++) {
            byte[] variable = variables.get(at);
            if (startsWith(variable, start)) {
                variables.set(at, Arrays.copyOfRange(variable, start.length, variable.length));
            }
        }
    }

    /// Puts an element before the others of a list that is separated by colons.
    public void prepend(String name, String element) {
        int at = find(bytes(name + "="));
        byte[] prefix = bytes(name + "=" + element);
        byte[] old = at < 0 ? new byte[0] : Arrays.copyOfRange(variables.get(at), name.length() + 1, variables.get(at).length);
        if (old.length == 0) {
            set(prefix);
        } else if (!startsWith(old, bytes(element + ":")) && !Arrays.equals(old, bytes(element))) {
            byte[] joined = Arrays.copyOf(prefix, prefix.length + 1 + old.length);
            joined[prefix.length] = ':';
            System.arraycopy(old, 0, joined, prefix.length + 1, old.length);
            set(joined);
        }
    }

    private static int nameLength(byte[] variable) {
        int length = 0;
        while (variable[length] != '=') {
            length++;
        }
        return length;
    }

    private int find(byte[] prefix) {
        for (int at = 0; at < variables.size(); at++) {
            if (startsWith(variables.get(at), prefix)) {
                return at;
            }
        }
        return -1;
    }

    private static boolean startsWith(byte[] text, byte[] prefix) {
        return text.length >= prefix.length && Arrays.equals(text, 0, prefix.length, prefix, 0, prefix.length);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
