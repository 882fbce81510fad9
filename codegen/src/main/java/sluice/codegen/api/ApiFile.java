package sluice.codegen.api;

/// The two tables of entry points and their differences. C names for NVML contain its name; those for CUDA, the usual case, have no addition.
public enum ApiFile {
    CUDA("cuda", "", "cu", "CUresult", "a CUDA version is major*1000 + minor*10, for example 12040") {
        @Override
        boolean isVersion(int version) {
            return version >= 2000 && version < 100_000 && version % 10 == 0 && version % 1000 < 200;
        }
    },
    NVML("nvml", "_nvml", "nvml", "nvmlReturn_t", "an NVML generation is 1, 2, 3, …") {
        @Override
        boolean isVersion(int version) {
            return version >= 1 && version < 100;
        }
    };

    private final String library;
    private final String suffix;
    private final String prefix;
    private final String resultType;
    private final String versionRule;

    ApiFile(String library, String suffix, String prefix, String resultType, String versionRule) {
        this.library = library;
        this.suffix = suffix;
        this.prefix = prefix;
        this.resultType = resultType;
        this.versionRule = versionRule;
    }

    abstract boolean isVersion(int version);

    public String fileName() {
        return library + ".api";
    }

    public String library() {
        return library;
    }

    /// The suffix of the generated C files and variables.
    public String suffix() {
        return suffix;
    }

    String prefix() {
        return prefix;
    }

    String resultType() {
        return resultType;
    }

    String versionRule() {
        return versionRule;
    }
}
