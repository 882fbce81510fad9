package sluice.it.guest;

import jcuda.Pointer;
import jcuda.Sizeof;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.JCudaDriver;

/// Runs in a process of its own. Fills memory, copies it back, asks for the memory's size and for more than a quota.
final class JCudaClient {
    private static final int COUNT = 1024;

    private JCudaClient() {}

    public static void main(String[] arguments) {
        JCudaDriver.setExceptionsEnabled(false);
        say("init", JCudaDriver.cuInit(0));
        CUdevice device = new CUdevice();
        JCudaDriver.cuDeviceGet(device, 0);
        CUcontext context = new CUcontext();
        say("context", JCudaDriver.cuDevicePrimaryCtxRetain(context, device));
        JCudaDriver.cuCtxSetCurrent(context);

        CUdeviceptr memory = new CUdeviceptr();
        say("alloc", JCudaDriver.cuMemAlloc(memory, (long) COUNT * Sizeof.INT));
        JCudaDriver.cuMemsetD32(memory, 4, COUNT);
        int[] back = new int[COUNT];
        say("copy", JCudaDriver.cuMemcpyDtoH(Pointer.to(back), memory, (long) COUNT * Sizeof.INT));
        long sum = 0;
        for (int value : back) {
            sum += value;
        }
        say("sum", sum);
        say("free", JCudaDriver.cuMemFree(memory));

        long[] free = new long[1];
        long[] total = new long[1];
        JCudaDriver.cuMemGetInfo(free, total);
        say("total", total[0]);
        say("two_gib", JCudaDriver.cuMemAlloc(memory, 2L << 30));
    }

    private static void say(String key, long value) {
        System.out.println(key + "=" + value);
    }
}
