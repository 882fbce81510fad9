"""PyTorch under a share of the GPU's time, with CUPTI's record of every kernel, in the same process, as the witness.

usage: compute.py matmul|train|train-tiny|train-large SECONDS     share of the time in which the GPU was busy
       compute.py rate-CASE SECONDS                steps per second, without a profiler
       compute.py bursts SECONDS                       2 ms of matmuls every 20 ms: time until they are done

Prints one line of key=value. Busy is the union of kernels and copies with gaps under 3 us, after the first second.
"""
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile

GAP_NS = 3000
SECOND_NS = 1_000_000_000


def matmul():
    a = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    return lambda: torch.matmul(a, b)


def training(width, batch):
    torch.manual_seed(0)
    layers = []
    for _ in range(4):
        layers += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    x = torch.randn(batch, width, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = ((model(x) - x) ** 2).mean()
        loss.backward()
        optimizer.step()

    return step


WORK = {
    "matmul": matmul,
    "train": lambda: training(1024, 8192),
    "train-tiny": lambda: training(256, 256),  # the host is busy, not the GPU
    "train-large": lambda: training(2048, 1024),
}


def warmed(case):
    step = WORK[case]()
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    return step


def loop(step, seconds, done=None):
    """Steps for a while; an event every few steps keeps the program from running far ahead of the GPU. Adds to done when the GPU had
    done each five."""
    steps, queued = 0, []
    started = time.monotonic()
    while time.monotonic() - started < seconds:
        for _ in range(5):
            step()
        steps += 5
        queued.append(torch.cuda.Event())
        queued[-1].record()
        if len(queued) > 8:
            queued.pop(0).synchronize()
            if done is not None:
                done.append(time.time_ns())
    torch.cuda.synchronize()
    return steps / (time.monotonic() - started)


def spans(recorded):
    """The union of what ran on the GPU, in order."""
    intervals = []
    for event in recorded.profiler.kineto_results.events():
        waits = event.name().endswith("Sync") or event.name().startswith("Stream Wait")
        if event.device_type() == torch.autograd.DeviceType.CUDA and not waits:
            begin = event.start_ns() if hasattr(event, "start_ns") else event.start_us() * 1000
            length = event.duration_ns() if hasattr(event, "duration_ns") else event.duration_us() * 1000
            intervals.append((begin, begin + length))
    intervals.sort()
    merged = []
    for begin, end in intervals:
        if merged and begin - merged[-1][1] < GAP_NS:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged, len(intervals)


def share(merged, begin, end):
    return 100 * sum(max(0, min(stop, end) - max(start, begin)) for start, stop in merged) / (end - begin)


def witnessed(case, seconds):
    step = warmed(case)
    print("ready", flush=True)
    with profile(activities=[ProfilerActivity.CUDA]) as recorded:
        rate = loop(step, seconds)
    merged, kernels = spans(recorded)
    settled = merged[0][0] + SECOND_NS
    until = min(merged[-1][1], merged[0][0] + int(seconds * SECOND_NS))
    windows = [share(merged, at, at + SECOND_NS) for at in range(settled, until - SECOND_NS + 1, SECOND_NS)]
    print(f"case={case} share={share(merged, settled, until):.2f} least={min(windows):.2f} most={max(windows):.2f} "
          f"steps_per_s={rate:.1f} kernels={kernels} windows={','.join(f'{w:.2f}' for w in windows)}", flush=True)


def bursts(seconds):
    step = warmed("matmul")
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(50):
        step()
    end.record()
    end.synchronize()
    count = max(1, round(2.0 / (begin.elapsed_time(end) / 50)))
    print("ready", flush=True)
    responses, beat = [], time.monotonic()
    until = beat + seconds
    while beat < until:
        time.sleep(max(0, beat - time.monotonic()))
        asked = time.monotonic()
        for _ in range(count):
            step()
        torch.cuda.synchronize()
        responses.append((time.monotonic() - asked) * 1e3)
        beat += 0.02
    responses.sort()
    print(f"case=bursts matmuls={count} median_ms={responses[len(responses) // 2]:.3f} "
          f"p99_ms={responses[int(len(responses) * 0.99)]:.3f} most_ms={responses[-1]:.3f} bursts={len(responses)}", flush=True)


if __name__ == "__main__":
    case, seconds = sys.argv[1], float(sys.argv[2])
    if case == "bursts":
        bursts(seconds)
    elif case.startswith("rate-"):
        step = warmed(case[5:])
        loop(step, 1)
        print(f"case={case[5:]} steps_per_s={loop(step, seconds):.2f}", flush=True)
    else:
        witnessed(case, seconds)
