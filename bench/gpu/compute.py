"""PyTorch under a share of the GPU's time, with CUPTI's record of every kernel, in the same process, as the witness.

usage: compute.py matmul|train|train-large SECONDS     share of the time in which the GPU was busy

Prints one line of key=value. Busy is the union of kernels and copies with gaps under 3 us, after the first second.
"""
import sys

import torch
from torch.profiler import ProfilerActivity, profile

import sharing

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
    "train-large": lambda: training(2048, 1024),
}


def warmed(case):
    step = WORK[case]()
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    return step


def marked():
    event = torch.cuda.Event()
    event.record()
    return event


def loop(step, seconds, done=None):
    return sharing.kept_ahead(step, marked, lambda event: event.synchronize(), seconds, done)


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


if __name__ == "__main__":
    witnessed(sys.argv[1], float(sys.argv[2]))
