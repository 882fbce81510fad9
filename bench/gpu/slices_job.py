"""A process on the GPU for slices.py, with the driver API alone (ctypes), or a PyTorch training.

usage: slices_job.py bursts COUNT KERNELS MICROS EVERY_MS   times bursts of kernels, prints a line of JSON
       slices_job.py loop MICROS          runs kernels of that length without end; obeys `begin` and `end` on its input
       slices_job.py train                the same with a PyTorch training
       slices_job.py life PART            does what the part says; the log of the library tells what it found: plain, contexts, torch
       slices_job.py long SECONDS         one kernel of that length, which tells the host that it runs
"""
import ctypes
import json
import os
import random
import select
import sys
import time

PTX = b"""
.version 6.0
.target sm_52
.address_size 64
.visible .entry grind(.param .u64 rounds, .param .u64 result, .param .u64 beat)
{
    .reg .pred %p<4>;
    .reg .u32 %r<12>;
    .reg .u64 %a<10>;
    ld.param.u64 %a0, [rounds];
    ld.param.u64 %a1, [result];
    ld.param.u64 %a2, [beat];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mad.lo.u32 %r3, %r1, %r2, %r0;
    mov.u32 %r4, %r3;
    mov.u64 %a5, 0;
    setp.ne.u64 %p1, %a2, 0;
    setp.eq.u32 %p2, %r3, 0;
    and.pred %p1, %p1, %p2;
again:
    mad.lo.u32 %r4, %r4, 1664525, 1013904223;
    shr.u32 %r5, %r4, 7;
    xor.b32 %r4, %r4, %r5;
    add.u64 %a5, %a5, 1;
    @!%p1 bra silent;
    and.b64 %a6, %a5, 255;
    setp.ne.u64 %p3, %a6, 0;
    @%p3 bra silent;
    st.volatile.global.u64 [%a2], %a5;
silent:
    setp.lt.u64 %p0, %a5, %a0;
    @%p0 bra again;
    mul.wide.u32 %a3, %r3, 4;
    add.u64 %a4, %a1, %a3;
    st.global.u32 [%a4], %r4;
    ret;
}
\0"""
THREADS, MASK = 256, 0xFFFFFFFF


def say(**values):
    print(json.dumps(values), flush=True)


class Gpu:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        self.device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(self.device), 0)
        self.context = self.make_context()
        self.begin()

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: error {status}")

    def make_context(self):
        context = ctypes.c_void_p()
        self.call("cuCtxCreate_v2", ctypes.byref(context), 1, self.device)
        return context

    def begin(self):
        processors = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(processors), 16, self.device)
        self.blocks = processors.value * 8
        module, self.kernel, self.stream = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), PTX)
        self.call("cuModuleGetFunction", ctypes.byref(self.kernel), module, b"grind")
        self.call("cuStreamCreate", ctypes.byref(self.stream), 1)
        self.result = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(self.result), ctypes.c_size_t(self.blocks * THREADS * 4))
        for _ in range(3):
            began = time.perf_counter()
            self.launch(20000)
            self.wait()
            self.nanos = (time.perf_counter() - began) * 1e9 / 20000

    def launch(self, rounds, beat=0):
        values = [ctypes.c_uint64(int(rounds)), self.result, ctypes.c_uint64(beat)]
        array = (ctypes.c_void_p * 3)(*[ctypes.cast(ctypes.byref(value), ctypes.c_void_p) for value in values])
        self.call("cuLaunchKernel", self.kernel, self.blocks, 1, 1, THREADS, 1, 1, 0, self.stream, array, None)

    def wait(self):
        self.call("cuStreamSynchronize", self.stream)

    def rounds(self, micros):
        """As many as take this long, measured alone."""
        rounds = max(64, int(micros * 1000 / self.nanos))
        for _ in range(3):
            began = time.perf_counter()
            for _ in range(5):
                self.launch(rounds)
            self.wait()
            took = (time.perf_counter() - began) / 5
        return max(64, int(rounds * micros / 1e6 / took))

    def output(self):
        host = (ctypes.c_uint32 * (self.blocks * THREADS))()
        self.call("cuMemcpyDtoH_v2", host, self.result, ctypes.c_size_t(ctypes.sizeof(host)))
        return host

    def is_right(self, rounds):
        """Threads of all parts of the grid, against the same on the host; None: that would take the host too long."""
        if rounds > 500_000:
            return None
        host = self.output()
        for thread in (0, 1, 255, 256, len(host) // 2, len(host) - 1):
            value = thread
            for _ in range(int(rounds)):
                value = (value * 1664525 + 1013904223) & MASK
                value ^= value >> 7
            if host[thread] != value:
                return False
        return True


def event(gpu):
    found = ctypes.c_void_p()
    gpu.call("cuEventCreate", ctypes.byref(found), 2)
    return found


def quantile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def bursts(count, kernels, micros, every):
    gpu = Gpu()
    rounds = gpu.rounds(micros)
    say(ready=True)
    if sys.stdin.readline().strip() != "begin":
        return
    times = []
    for number in range(count + 10):
        time.sleep((every - 1 + 2 * random.random()) / 1e3)
        began = time.perf_counter()
        for _ in range(kernels):
            gpu.launch(rounds)
        gpu.wait()
        if number >= 10:
            times.append((time.perf_counter() - began) * 1e3)
    say(p50=quantile(times, 0.5), p90=quantile(times, 0.9), p99=quantile(times, 0.99), most=max(times), count=len(times),
        right=gpu.is_right(rounds), all=[round(value, 4) for value in times])


def told():
    """A line that has come, or nothing."""
    return sys.stdin.readline().strip() if select.select([sys.stdin], [], [], 0)[0] else None


def count_work(do_one):
    """Counts until `end`; both words are answered."""
    say(ready=True)
    done, since = 0, time.perf_counter()
    while True:
        done += do_one()
        word = told()
        if word == "begin":
            done, since = 0, time.perf_counter()
            say(began=True)
        elif word == "end":
            say(rate=done / (time.perf_counter() - since))
        elif word is not None:
            return


def loop(micros):
    gpu = Gpu()
    rounds, waiting = gpu.rounds(micros), []
    unused = [event(gpu) for _ in range(4)]

    def one():
        while unused:
            end = unused.pop()
            gpu.launch(rounds)
            gpu.call("cuEventRecord", end, gpu.stream)
            waiting.append(end)
        while gpu.cuda.cuEventQuery(waiting[0]) == 600:
            time.sleep(0.0001)
        unused.append(waiting.pop(0))
        return 1

    count_work(one)
    gpu.wait()
    say(right=gpu.is_right(rounds))


def train():
    import torch

    torch.manual_seed(1)
    width = 2048
    model = torch.nn.Sequential(*[layer for _ in range(12) for layer in (torch.nn.Linear(width, width), torch.nn.GELU())]).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    x = torch.randn(2048, width, device="cuda")

    def one():
        optimizer.zero_grad(set_to_none=True)
        ((model(x) - x) ** 2).mean().backward()
        optimizer.step()
        torch.cuda.synchronize()
        return 1

    for _ in range(10):
        one()
    count_work(one)


def life(part):
    if part == "torch":
        import torch

        x = torch.randn(512, 512, device="cuda")
        for _ in range(20):
            x = torch.tanh(x @ x)
        torch.cuda.synchronize()
        time.sleep(0.3)
    gpu = Gpu()
    time.sleep(0.3)
    if part == "contexts":
        say(step="second context")
        second = gpu.make_context()
        gpu.begin()
        time.sleep(0.3)
        say(step="second context destroyed")
        gpu.call("cuCtxDestroy_v2", second)
        gpu.call("cuCtxSetCurrent", gpu.context)
        time.sleep(0.3)
        gpu.call("cuCtxDestroy_v2", gpu.context)
        say(step="all destroyed; a third")
        gpu.context = gpu.make_context()
        gpu.begin()
        time.sleep(0.3)
    rounds = gpu.rounds(1000)
    say(ready=True)
    until = time.monotonic() + float(os.environ.get("LIFE_SECONDS", "0.5"))
    while time.monotonic() < until:
        gpu.launch(rounds)
        gpu.wait()
    say(right=gpu.is_right(rounds))


def long(seconds):
    gpu = Gpu()
    rate = 1e6 / gpu.rounds(1e4) * 1e4 / 1e6  # microseconds a round
    rounds = int(seconds * 1e6 / rate)
    beat, seen = ctypes.c_void_p(), ctypes.c_uint64()
    gpu.call("cuMemHostAlloc", ctypes.byref(beat), ctypes.c_size_t(4096), 2)
    gpu.call("cuMemHostGetDevicePointer_v2", ctypes.byref(seen), beat, 0)
    word = ctypes.cast(beat, ctypes.POINTER(ctypes.c_uint64))
    gpu.launch(rounds, seen.value)
    say(ready=True)
    last, changed, gaps = 0, time.monotonic(), []
    end = event(gpu)
    gpu.call("cuEventRecord", end, gpu.stream)
    real = ctypes.CDLL("libc.so.6")
    while word[0] + 256 < rounds:
        now, value = time.monotonic(), word[0]
        if value != last:
            if now - changed > 0.02:
                gaps.append([changed, now])
            last, changed = value, now
        real.usleep(100)
    gpu.wait()
    say(gaps=gaps, rounds=rounds)


if __name__ == "__main__":
    what, rest = sys.argv[1], sys.argv[2:]
    if what == "life":
        life(rest[0])
    else:
        {"bursts": bursts, "loop": loop, "train": train, "long": long}[what](*[int(float(word)) for word in rest])
