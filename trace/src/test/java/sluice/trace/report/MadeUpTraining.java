package sluice.trace.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import sluice.trace.read.TraceEvent;
import sluice.trace.read.TraceInfo;

/// A training run that never was: start-up, steps in turns and under a cap, a pause to evaluate, a checkpoint at the end.
public final class MadeUpTraining {
    public static final long BEGIN = 5_000_000_000_000L;
    private static final int PID = 4711;
    private static final int MAIN = 4711;
    private static final int LOADER = 4730;
    private static final String[] KERNELS = {
        "_ZN7cutlass6KernelI66cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_nn_alignEEvNT_6ParamsE",
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_",
        "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_10NormTwoOpsIffEEjfLi4EEEEEvT1_",
        "_ZN2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_18TensorListMetadataILi4EEEEEvT_",
        "flash_fwd_kernel",
        "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel",
        "layer_norm_grad_input_kernel",
    };
    private static final long[] COSTS = {84_000, 9_000, 14_000, 31_000, 120_000, 260_000, 22_000};

    private final List<TraceEvent> events = new ArrayList<>();
    private final Random random = new Random(42);
    private final long[] launches = new long[KERNELS.length];
    private long now = BEGIN;
    private long gpuFree = BEGIN;
    private long memory = 540L << 20;

    public static List<TraceEvent> steps(int steps) {
        MadeUpTraining training = new MadeUpTraining();
        training.start();
        for (int step = 0; step < steps; step++) {
            training.step(step, step > steps / 2);
            if (step == steps / 3) {
                training.now += 420_000_000;
            }
        }
        training.checkpoint();
        training.events.sort(Comparator.comparingLong(TraceEvent::endNanos));
        return training.events;
    }

    static TraceInfo info(List<TraceEvent> events, long dropped) {
        return new TraceInfo("train-4711",
                List.of(new TraceInfo.Process(PID, "python train.py --model small --batch 64 --epochs 3", 1_794_736_800_000_000_000L, "580.95", "0.1.0")),
                List.of(new TraceInfo.ThreadRing(PID, MAIN, "python", events.size(), dropped), new TraceInfo.ThreadRing(PID, LOADER, "pt_data_pin", 0, 0)),
                List.of(new TraceInfo.Gpu(0, "GPU-00000000-0000-0000-0000-000000000000", "NVIDIA H200", 400, 1)), events.size(), dropped,
                events.stream().mapToLong(TraceEvent::beginNanos).min().orElse(0), events.stream().mapToLong(TraceEvent::endNanos).max().orElse(0),
                new TraceInfo.Anchor(BEGIN, 1_794_736_805_000_000_000L));
    }

    private void start() {
        call(MAIN, "cuInit", 41_000_000, 0, 0, TraceEvent.Direction.NONE, -1);
        call(MAIN, "cuDevicePrimaryCtxRetain", 182_000_000, 0, 0, TraceEvent.Direction.NONE, memory);
        call(MAIN, "cuModuleLoadDataEx", 61_000_000, 0, 0, TraceEvent.Direction.NONE, memory += 60 << 20);
        now += 35_000_000;
        for (int i = 0; i < 14; i++) {
            call(MAIN, "cuMemAlloc_v2", 190_000 + random.nextInt(300_000), 0, 256L << 20, TraceEvent.Direction.NONE, memory += 256L << 20);
            call(MAIN, "cuMemcpyHtoD_v2", 7_000_000 + random.nextInt(4_000_000), 0, 256L << 20, TraceEvent.Direction.TO_GPU, -1);
            now += 900_000;
        }
        gpuFree = now;
    }

    private void step(int step, boolean contended) {
        long begin = now;
        loader(step);
        call(MAIN, "cuMemcpyHtoDAsync_v2", 9_000, 0, 12L << 20, TraceEvent.Direction.TO_GPU, -1);
        if (step % 7 == 3) {
            call(MAIN, "cuMemAlloc_v2", 210_000, step % 50 == 3 ? 2 : 0, 64L << 20, TraceEvent.Direction.NONE, memory += 64L << 20);
        }
        phase("forward", 36, contended);
        phase("backward", 62, contended);
        if (step % 7 == 5) {
            call(MAIN, "cuMemFree_v2", 160_000, 0, 64L << 20, TraceEvent.Direction.NONE, memory -= 64L << 20);
        }
        phase("optimizer", 18, contended);
        long synced = Math.max(now, gpuFree) + 6_000;
        add(new TraceEvent.Call(now, synced, PID, MAIN, 0, "cuStreamSynchronize", 0, 7, 0, TraceEvent.Direction.NONE, -1));
        now = synced;
        call(MAIN, "cuMemcpyDtoH_v2", 14_000, 0, 4, TraceEvent.Direction.FROM_GPU, -1);
        add(new TraceEvent.Range(begin, now, PID, MAIN, "step", "", 0, true));
        now += 1_200_000 + random.nextInt(1_500_000);
        if (step % 10 == 9) {
            costs();
        }
    }

    private void phase(String name, int kernels, boolean contended) {
        long begin = now;
        long work = 0;
        long submitted = now;
        for (int i = 0; i < kernels; i++) {
            int which = (int) (Math.abs(random.nextGaussian()) * 2.2) % KERNELS.length;
            long called = now;
            if (i == kernels / 3) {
                gate(contended);
            }
            now += 3_400 + random.nextInt(1_800);
            add(new TraceEvent.Kernel(called, now, PID, MAIN, 0, "cuLaunchKernel", 0, 7, KERNELS[which],
                    new TraceEvent.Extent(132 << which % 3, 1, 1), new TraceEvent.Extent(256, 1, 1), 49152));
            launches[which]++;
            work += COSTS[which];
            now += random.nextInt(6_000);
            if (i % 12 == 11 || i == kernels - 1) {
                long start = Math.max(gpuFree, submitted + 8_000);
                gpuFree = start + work;
                add(new TraceEvent.Batch(start, gpuFree, PID, MAIN, 0, 12, work * 97 / 100, 4_000));
                add(new TraceEvent.Turn(start - 20_000, gpuFree + 20_000, PID, MAIN, 0));
                work = 0;
                submitted = now;
            }
        }
        add(new TraceEvent.Range(begin, now, PID, MAIN, name, "", 1, true));
    }

    private void gate(boolean contended) {
        long waited = contended ? 3_000_000 + random.nextInt(5_000_000) : 900_000 + random.nextInt(2_600_000);
        now = Math.max(now, gpuFree);
        add(new TraceEvent.Wait(now, now + waited, PID, MAIN, 0, contended ? TraceEvent.Reason.TURN : TraceEvent.Reason.CAP));
        now += waited;
    }

    private void loader(int step) {
        long at = now + 500_000;
        add(new TraceEvent.Call(at, at + 30_000 + random.nextInt(50_000), PID, LOADER, 0, "cuMemHostAlloc", 0, 0, 12L << 20, TraceEvent.Direction.NONE, -1));
        add(new TraceEvent.Call(at + 200_000, at + 203_000, PID, LOADER, 0, "cuEventQuery", step % 3 == 0 ? 600 : 0, 0, 0, TraceEvent.Direction.NONE, -1));
    }

    private void checkpoint() {
        costs();
        add(new TraceEvent.Mark(now, now, PID, MAIN, "checkpoint", ""));
        for (int i = 0; i < 14; i++) {
            call(MAIN, "cuMemcpyDtoH_v2", 11_000_000 + random.nextInt(3_000_000), 0, 256L << 20, TraceEvent.Direction.FROM_GPU, -1);
            now += 6_000_000;
        }
    }

    private void costs() {
        for (int i = 0; i < KERNELS.length; i++) {
            add(new TraceEvent.Cost(now, now, PID, MAIN, 0, KERNELS[i], 132, 256, COSTS[i] * 97 / 100, launches[i], new TraceEvent.Measured(true, 5, 10)));
            launches[i] = 0;
        }
    }

    private void call(int tid, String function, long nanos, int status, long bytes, TraceEvent.Direction direction, long used) {
        add(new TraceEvent.Call(now, now + nanos, PID, tid, 0, function, status, 0, bytes, direction, used));
        now += nanos + 2_000;
    }

    private void add(TraceEvent event) {
        events.add(event);
    }
}
