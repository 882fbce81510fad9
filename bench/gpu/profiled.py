"""A PyTorch training with torch.profiler on from before the first CUDA call: what it saw, to compare with Sluice's trace of the same run.

usage: profiled.py                           trains, prints a line of what the profiler saw
       profiled.py compare PROFILED REPORT   compares that line with the JSON of `sluice report`
"""
import json
import sys

WIDTH = 2048
STEPS = 40


def train():
    import torch
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(WIDTH, 16, 4 * WIDTH, dropout=0.0, batch_first=True)
        model = torch.nn.TransformerEncoder(layer, 4).cuda()
        optimizer = torch.optim.AdamW(model.parameters())
        x = torch.randn(64, 256, WIDTH, device="cuda")
        for _ in range(STEPS):
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = ((model(x) - x) ** 2).mean()
            loss.backward()
            optimizer.step()
        torch.cuda.synchronize()
    kernels, copies, spans = 0, 0, []
    for event in profiler.profiler.kineto_results.events():
        if event.device_type() != torch.autograd.DeviceType.CUDA or event.duration_ns() <= 0:
            continue
        if event.name().startswith(("Memcpy", "Memset")):
            copies += 1
        elif event.is_user_annotation() if hasattr(event, "is_user_annotation") else False:
            continue
        else:
            kernels += 1
        spans.append((event.start_ns(), event.start_ns() + event.duration_ns()))
    print("profiler " + json.dumps({"kernels": kernels, "copies": copies, "busy_ns": union(spans), "sum_ns": sum(end - begin for begin, end in spans)}))


def union(spans):
    total, covered = 0, 0
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, covered))
        covered = max(covered, end)
    return total


def compare(profiled, report):
    seen = next(json.loads(line[9:]) for line in open(profiled) if line.startswith("profiler "))
    ours = json.load(open(report))
    busy = sum(gpu["busy_nanos"] for gpu in ours["gpus"])
    print(f"kernels: profiler {seen['kernels']}, trace {ours['kernel_launches']}, difference {ours['kernel_launches'] - seen['kernels']}")
    print(f"GPU time: profiler {seen['busy_ns'] / 1e6:.1f} ms, trace {busy / 1e6:.1f} ms, {100 * (busy / seen['busy_ns'] - 1):+.1f} %; dropped {ours['dropped']}")


if __name__ == "__main__":
    compare(sys.argv[2], sys.argv[3]) if len(sys.argv) > 3 and sys.argv[1] == "compare" else train()
