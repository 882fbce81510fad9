package sluice.region;

/// The number of a GPU in a limit, as nvidia-smi counts them.
final class GpuNumber {
    private static final int LONGEST = 2;

    private GpuNumber() {}

    static int parse(String number, String where, String example) {
        boolean good = !number.isEmpty() && number.length() <= LONGEST;
        for (int at = 0; at < number.length(); at++) {
            good &= number.charAt(at) >= '0' && number.charAt(at) <= '9';
        }
        if (!good || Integer.parseInt(number) >= MemoryLimits.GPUS) {
            throw new SluiceException("bad GPU number '" + number + "' in " + where + "; use 0 to "
                    + (MemoryLimits.GPUS - 1) + ", as in " + example);
        }
        return Integer.parseInt(number);
    }
}
