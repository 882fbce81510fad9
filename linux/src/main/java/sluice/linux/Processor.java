package sluice.linux;

/// Differences between x86-64 and 64-bit ARM, except the numbers of the calls.
final class Processor {
    static final boolean IS_ARM = "aarch64".equals(System.getProperty("os.arch"));
    static final int O_DIRECTORY = IS_ARM ? 0x4000 : 0x10000;
    static final int O_NOFOLLOW = IS_ARM ? 0x8000 : 0x20000;

    private Processor() {}
}
