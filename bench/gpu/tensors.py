"""PyTorch with cudaMallocAsync: random tensors of 1 to 63 MiB come and go until ROUNDS are over; what is refused is skipped. Prints key=value lines.

usage: tensors.py [ROUNDS]
"""
import os
import random
import sys
import time

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = os.environ["PYTORCH_ALLOC_CONF"] = "backend:cudaMallocAsync"
import torch  # noqa: E402

random.seed(1)
held, refused, granted = [None] * 256, 0, 0
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 4000):
    at = random.randrange(len(held))
    if held[at] is not None:
        held[at] = None
        continue
    try:
        held[at] = torch.empty(random.randint(1, 63) << 20, dtype=torch.uint8, device="cuda").fill_(at % 251)
        granted += 1
    except torch.cuda.OutOfMemoryError:
        refused += 1
torch.cuda.synchronize()
right = all(int(tensor[-1]) == at % 251 for at, tensor in enumerate(held) if tensor is not None)
print(f"granted={granted} refused={refused} held_mib={sum(tensor.numel() for tensor in held if tensor is not None) >> 20} right={right}", flush=True)
time.sleep(1)
