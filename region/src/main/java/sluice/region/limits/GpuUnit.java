package sluice.region.limits;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import sluice.region.place.SluiceException;

/// A quantity that is limited by GPU, and how people write it: one value for every GPU, or `0=4g,1=8g` for the GPUs named.
enum GpuUnit {
    MEMORY("memory limit", "4g", "8g") {
        @Override
        long parse(String text) {
            return Size.parse(text);
        }

        @Override
        String format(long bytes) {
            return Size.format(bytes);
        }
    },

    /// In thousandths of the time that passes. All of a GPU is no cap.
    COMPUTE("compute limit", "25%", "50%") {
        @Override
        long parse(String text) {
            int permille = Percent.parse(text);
            return permille == ALL_PERMILLE ? 0 : permille;
        }

        @Override
        String format(long permille) {
            return Percent.format((int) permille);
        }
    };

    static final int GPUS = 16;
    static final long NOT_NAMED = -1;

    private static final int ALL_PERMILLE = 1000;
    private static final int LONGEST_NUMBER = 2;
    private static final String NONE = "none";

    private final String what;
    private final String one;
    private final String other;

    GpuUnit(String what, String one, String other) {
        this.what = what;
        this.one = one;
        this.other = other;
    }

    abstract long parse(String text);

    abstract String format(long value);

    /// The limit of each GPU; 0 is none.
    long[] limits(String text) {
        long[] values = read(text, false);
        for (int gpu = 0; gpu < values.length; gpu++) {
            values[gpu] = Math.max(0, values[gpu]);
        }
        return values;
    }

    /// The changed limit of each GPU: 0 if `none` removes it, NOT_NAMED if it stays.
    long[] changes(String text) {
        return read(text, true);
    }

    /// The GPUs that a text names; empty when it is for all.
    List<Integer> named(String text) {
        if (text.indexOf('=') < 0) {
            return List.of();
        }
        long[] values = read(text, true);
        List<Integer> named = IntStream.range(0, values.length).filter(gpu -> values[gpu] != NOT_NAMED).boxed().toList();
        return named.size() == GPUS ? List.of() : named;
    }

    private long[] read(String text, boolean change) {
        long[] values = new long[GPUS];
        if (text.indexOf('=') < 0) {
            Arrays.fill(values, value(text, change));
            return values;
        }
        Arrays.fill(values, NOT_NAMED);
        int from = 0;
        while (from <= text.length()) {
            int comma = text.indexOf(',', from);
            int end = comma < 0 ? text.length() : comma;
            String part = text.substring(from, end);
            int equals = part.indexOf('=');
            if (equals < 0) {
                throw new SluiceException("bad " + what + " '" + text + "'; write " + one + " for every GPU, or " + example(change ? NONE : other));
            }
            int gpu = number(part.substring(0, equals).strip(), text);
            if (values[gpu] != NOT_NAMED) {
                throw new SluiceException(what + " '" + text + "' names GPU " + gpu + " twice; name each GPU once");
            }
            values[gpu] = value(part.substring(equals + 1), change);
            from = end + 1;
        }
        return values;
    }

    private long value(String text, boolean change) {
        return change && text.strip().equals(NONE) ? 0 : parse(text);
    }

    /// As nvidia-smi counts them.
    private int number(String number, String text) {
        boolean good = !number.isEmpty() && number.length() <= LONGEST_NUMBER;
        for (int at = 0; at < number.length(); at++) {
            good &= number.charAt(at) >= '0' && number.charAt(at) <= '9';
        }
        if (!good || Integer.parseInt(number) >= GPUS) {
            throw new SluiceException("bad GPU number '" + number + "' in " + what + " '" + text + "'; use 0 to " + (GPUS - 1)
                    + ", as in " + example(other));
        }
        return Integer.parseInt(number);
    }

    private String example(String second) {
        return "0=" + one + ",1=" + second;
    }
}
