"""Threads that launch one kernel again and again on their own streams, with CUPTI (torch.profiler) as the witness of Sluice's kernel times.

usage: kernels.py work THREADS MICROS SECONDS [AHEAD] [full]  prints a line of what CUPTI saw. full: the kernel, a product of matrices, fills the GPU; else they fit side by side
       kernels.py compare LOG REPORT                compares that line with the JSON of `sluice report`; status 1 when a time is wrong

A time is right within 5 % of CUPTI's mean. One that the report marks as an estimate is right when CUPTI's mean lies between its bounds, with 5 % to spare.
"""
import json
import sys
import threading
import time

def work(count, micros, seconds, ahead, full):
    import torch
    from torch.profiler import ProfilerActivity, profile

    torch.cuda.init()
    clock_khz = getattr(torch.cuda.get_device_properties(0), "clock_rate", 1_980_000)
    width = int((micros * 1e-6 * 700e12 / 2) ** (1 / 3)) // 128 * 128  # some 700 TFLOPS of an H200
    left = torch.randn(width, width, device="cuda", dtype=torch.bfloat16)

    def kernel(result):
        if full:
            torch.mm(left, left, out=result)
        else:
            torch.cuda._sleep(int(micros * clock_khz / 1000))

    barrier = threading.Barrier(count)

    def run():
        stream = torch.cuda.Stream()
        result = torch.empty_like(left)
        torch.cuda.synchronize()
        barrier.wait()
        end = time.monotonic() + seconds
        with torch.cuda.stream(stream):
            while time.monotonic() < end:
                for _ in range(ahead):
                    kernel(result)
                stream.synchronize()

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        threads = [threading.Thread(target=run) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        torch.cuda.synchronize()
    seen = {}
    for event in profiler.profiler.kineto_results.events():
        if event.device_type() == torch.autograd.DeviceType.CUDA and not event.name().startswith(("Memcpy", "Memset")):
            seen.setdefault(event.name(), []).append(event.duration_ns())
    times = max(seen.values(), key=len)
    print("cupti " + json.dumps({"launches": len(times), "sum_ns": sum(times), "mean_ns": sum(times) / max(1, len(times))}), flush=True)


def compare(log, report):
    seen = next(json.loads(line[6:]) for line in open(log) if line.startswith("cupti "))
    ours = json.load(open(report))
    kernel = max(ours["kernels"], key=lambda each: each["launches"])
    mean, told = seen["mean_ns"], kernel["nanos_per_launch"]
    if kernel["estimate"]:
        right = kernel["least_nanos_per_launch"] / 1.05 <= mean <= kernel["most_nanos_per_launch"] * 1.05
    else:
        right = abs(told / mean - 1) <= 0.05
    busy = sum(gpu["busy_nanos"] for gpu in ours["gpus"])
    beside = any(gpu["kernels_side_by_side"] for gpu in ours["gpus"])
    right = right and (kernel["gpu_nanos"] <= busy or beside)
    print(f"| {seen['launches']} / {kernel['launches']} | {mean / 1e3:.1f} | {'≈ ' if kernel['estimate'] else ''}{told / 1e3:.1f} "
          f"({kernel['least_nanos_per_launch'] / 1e3:.1f} … {kernel['most_nanos_per_launch'] / 1e3:.1f}) | {100 * (told / mean - 1):+.1f} % "
          f"| {kernel['gpu_nanos'] / 1e6:.0f} of {busy / 1e6:.0f} ms busy{', side by side' if beside else ''} | {'right' if right else 'WRONG'} |")
    return 0 if right else 1


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "compare":
        sys.exit(compare(sys.argv[2], sys.argv[3]))
    if len(sys.argv) < 5 or sys.argv[1] != "work":
        sys.exit(__doc__)
    work(int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]) if len(sys.argv) > 5 else 1, "full" in sys.argv)
