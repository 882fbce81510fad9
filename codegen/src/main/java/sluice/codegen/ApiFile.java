package sluice.codegen;

/// The two tables of entry points and what differs between them.
enum ApiFile {
    CUDA("cuda.api", "cu", "CUresult", "a CUDA version is major*1000 + minor*10, for example 12040") {
        @Override
        boolean isVersion(int version) {
            return version >= 2000 && version < 100_000 && version % 10 == 0 && version % 1000 < 200;
        }
    },
    NVML("nvml.api", "nvml", "nvmlReturn_t", "an NVML generation is 1, 2, 3, …") {
        @Override
        boolean isVersion(int version) {
            return version >= 1 && version < 100;
        }
    };

    private final String fileName;
    private final String prefix;
    private final String resultType;
    private final String versionRule;

    ApiFile(String fileName, String prefix, String resultType, String versionRule) {
        this.fileName = fileName;
        this.prefix = prefix;
        this.resultType = resultType;
        this.versionRule = versionRule;
    }

    abstract boolean isVersion(int version);

    String fileName() {
        return fileName;
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
