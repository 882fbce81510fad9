"""What a framework computes and is told about memory. Prints key=value lines, to be compared with and without Sluice.

usage: frameworks.py torch|jax|cupy
"""
import hashlib
import os
import sys
import time

FIVE_GIB = 5 << 30


def say(key, value):
    print(f"{key}={value}", flush=True)


def digest(array):
    return hashlib.sha256(array.tobytes()).hexdigest()[:16]


def use_torch():
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    import torch

    torch.use_deterministic_algorithms(True)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(256, 512, device="cuda")
    for _ in range(50):
        optimizer.zero_grad()
        loss = ((model(x) - x) ** 2).mean()
        loss.backward()
        optimizer.step()
    say("result", digest(torch.cat([p.detach().flatten() for p in model.parameters()]).cpu().numpy()))
    free, total = torch.cuda.mem_get_info()
    say("total_mib", total >> 20)
    say("free_at_most_total", free <= total)
    try:
        torch.empty(FIVE_GIB, dtype=torch.uint8, device="cuda")
        say("five_gib", "allocated")
    except torch.cuda.OutOfMemoryError as refused:
        say("five_gib", "refused: " + type(refused).__name__)
    held = []
    try:
        while len(held) < 60:
            held.append(torch.empty(64 << 20, dtype=torch.uint8, device="cuda"))
    except torch.cuda.OutOfMemoryError:
        pass
    say("held_mib", len(held) * 64)
    time.sleep(1.0)


def use_jax():
    import jax
    import jax.numpy as jnp
    import numpy

    key = jax.random.key(0)
    x = jax.random.normal(key, (1024, 1024), dtype=jnp.float32)
    step = jax.jit(lambda a: jnp.tanh(a @ a) + 0.1 * a)
    for _ in range(20):
        x = step(x)
    say("result", digest(numpy.asarray(x)))
    stats = jax.devices()[0].memory_stats() or {}
    say("total_mib", int(stats.get("bytes_limit", 0)) >> 20)
    try:
        jnp.zeros(FIVE_GIB, dtype=jnp.uint8).block_until_ready()
        say("five_gib", "allocated")
    except Exception as refused:  # jaxlib's error class has moved between versions
        say("five_gib", "refused: " + type(refused).__name__ + (" RESOURCE_EXHAUSTED" if "RESOURCE_EXHAUSTED" in str(refused) else ""))
    time.sleep(1.0)


def use_cupy():
    import cupy

    generator = cupy.random.default_rng(0)
    x = generator.standard_normal((1024, 1024), dtype=cupy.float32)
    for _ in range(20):
        x = cupy.tanh(x @ x) + 0.1 * x
    say("result", digest(cupy.asnumpy(x)))
    free, total = cupy.cuda.runtime.memGetInfo()
    say("total_mib", total >> 20)
    say("free_at_most_total", free <= total)
    try:
        cupy.empty(FIVE_GIB, dtype=cupy.uint8)
        say("five_gib", "allocated")
    except cupy.cuda.memory.OutOfMemoryError as refused:
        say("five_gib", "refused: " + type(refused).__name__)
    time.sleep(1.0)


if __name__ == "__main__":
    {"torch": use_torch, "jax": use_jax, "cupy": use_cupy}[sys.argv[1]]()
