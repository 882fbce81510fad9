"""A PyTorch program that names its parts with NVTX, and whether they are in Sluice's trace of it.

usage: nvtx.py                           works, prints a line of the ranges that it set and how long they took
       nvtx.py compare PRINTED REPORT [PERFETTO]   with the JSON of `sluice report`, and the file that `sluice trace convert` wrote
"""
import gzip
import json
import sys
import time

STEPS = 50


def work():
    import torch

    nvtx = torch.cuda.nvtx
    a = torch.randn(1024, 1024, device="cuda")
    torch.cuda.synchronize()
    ranges = {}

    class Range:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            nvtx.range_push(self.name)
            self.began = time.monotonic_ns()

        def __exit__(self, *_):
            took = time.monotonic_ns() - self.began
            nvtx.range_pop()
            count, nanos = ranges.get(self.name, (0, 0))
            ranges[self.name] = (count + 1, nanos + took)

    with Range("sluice-nvtx all"):
        for _ in range(STEPS):
            with Range("sluice-nvtx step"):
                with Range("sluice-nvtx forward"):
                    torch.matmul(a, a)
                with Range("sluice-nvtx wait"):
                    torch.cuda.synchronize()
            nvtx.mark("sluice-nvtx mark")
    print("ranges " + json.dumps(ranges))


def compare(printed, report, perfetto=None):
    expected = next(json.loads(line[7:]) for line in open(printed) if line.startswith("ranges "))
    found = {one["name"]: one for one in json.load(open(report)).get("ranges", [])}
    good = True
    for name, (count, nanos) in expected.items():
        one = found.get(name, {})
        seen, took = one.get("count", one.get("calls", 0)), one.get("nanos", 0)
        good &= seen == count
        print(f"{name}: set {count} times, traced {seen}; {nanos / 1e6:.2f} ms by the program, {took / 1e6:.2f} ms in the trace ({100 * (took / nanos - 1):+.1f} %)")
    if perfetto:
        data = (gzip.open if perfetto.endswith(".gz") else open)(perfetto, "rb").read()
        missing = [name for name in [*expected, "sluice-nvtx mark"] if name.encode() not in data]
        good &= not missing
        print("Perfetto file: " + ("all names" if not missing else f"lacks {', '.join(missing)}"))
    print("nvtx: " + ("met" if good else "missed"))


if __name__ == "__main__":
    compare(*sys.argv[2:5]) if len(sys.argv) > 3 and sys.argv[1] == "compare" else work()
