"""Reads what PyTorch needs from the disk, without touching the GPU, so that processes which are measured later start in seconds.

A fresh machine takes 20 to 30 s for the first import, most of it for a few gigabytes of libraries. Beside the import a step of training
and a profile on the host load what is loaded late; at last every mapped library is read as a whole, code for the GPU included.
"""
import time

began = time.monotonic()
import torch  # noqa: E402
from torch.profiler import ProfilerActivity, profile  # noqa: E402

torch.set_num_threads(1)
model = torch.nn.TransformerEncoderLayer(16, 2, 16, batch_first=True)
optimizer = torch.optim.AdamW(model.parameters())
with profile(activities=[ProfilerActivity.CPU]):
    model(torch.randn(2, 4, 16)).mean().backward()
    optimizer.step()
imported = time.monotonic()

with open("/proc/self/maps") as maps:
    libraries = {line.split()[-1] for line in maps if ".so" in line}
size = 0
for path in sorted(libraries):
    try:
        with open(path, "rb", buffering=0) as library:
            while piece := library.read(1 << 24):
                size += len(piece)
    except OSError as gone:
        print(gone)
print(f"imported after {imported - began:.0f} s, {size >> 20} MiB of {len(libraries)} libraries read after {time.monotonic() - began:.0f} s", flush=True)
