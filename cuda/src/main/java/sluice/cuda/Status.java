package sluice.cuda;

/// The results of the CUDA driver that this project meets, by their names.
public final class Status {
    public static final int SUCCESS = 0;
    public static final int INVALID_VALUE = 1;
    public static final int OUT_OF_MEMORY = 2;
    public static final int INVALID_DEVICE = 101;
    public static final int INVALID_CONTEXT = 201;
    public static final int NOT_FOUND = 500;
    public static final int NOT_PERMITTED = 800;
    public static final int NOT_SUPPORTED = 801;

    private Status() {}

    public static String name(int status) {
        return switch (status) {
            case SUCCESS -> "CUDA_SUCCESS";
            case INVALID_VALUE -> "CUDA_ERROR_INVALID_VALUE";
            case OUT_OF_MEMORY -> "CUDA_ERROR_OUT_OF_MEMORY";
            case 3 -> "CUDA_ERROR_NOT_INITIALIZED";
            case 34 -> "CUDA_ERROR_STUB_LIBRARY";
            case 100 -> "CUDA_ERROR_NO_DEVICE";
            case INVALID_DEVICE -> "CUDA_ERROR_INVALID_DEVICE";
            case INVALID_CONTEXT -> "CUDA_ERROR_INVALID_CONTEXT";
            case 222 -> "CUDA_ERROR_UNSUPPORTED_PTX_VERSION";
            case NOT_FOUND -> "CUDA_ERROR_NOT_FOUND";
            case NOT_PERMITTED -> "CUDA_ERROR_NOT_PERMITTED";
            case NOT_SUPPORTED -> "CUDA_ERROR_NOT_SUPPORTED";
            case 803 -> "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH";
            case 999 -> "CUDA_ERROR_UNKNOWN";
            default -> "CUDA error " + status;
        };
    }

    public static void check(String call, int status) {
        if (status != SUCCESS) {
            throw new CudaException(call, status);
        }
    }
}
