"""Takes memory through a framework's allocator in steps of 64 MiB until it is refused. Prints key=value lines.

usage: grow.py torch|torch-async|torch-expandable|graph|jax|jax-platform|cupy|cupy-async [processes]
"""
import multiprocessing
import os
import sys
import time

STEP = 64 << 20
MOST = 8 << 30


def say(key, value):
    print(f"{key}={value}", flush=True)


def grow(take, refusal):
    held = []
    try:
        while len(held) * STEP < MOST:
            held.append(take())
        say("stopped", "no")
    except Exception as refused:
        ordinary = isinstance(refused, refusal) if refusal else "RESOURCE_EXHAUSTED" in str(refused)
        say("stopped", ("ordinary " if ordinary else "STRANGE ") + type(refused).__name__)
    say("held_mib", len(held) * STEP >> 20)
    time.sleep(1.0)
    return held


def with_torch(configuration):
    if configuration:
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = configuration
    import torch

    x = torch.arange(1 << 20, dtype=torch.float64, device="cuda")
    say("correct", float(x.sum()) == 2**19 * (2**20 - 1))
    grow(lambda: torch.empty(STEP, dtype=torch.uint8, device="cuda"), torch.cuda.OutOfMemoryError)
    say("total_mib", torch.cuda.mem_get_info()[1] >> 20)


def with_graph():
    """A CUDA graph with allocations inside, through the driver: captured cudaMallocAsync, launched as it grows."""
    import cupy

    pool = cupy.cuda.MemoryAsyncPool()
    cupy.cuda.set_allocator(pool.malloc)
    stream = cupy.cuda.Stream(non_blocking=True)
    execs = []
    runtime = cupy.cuda.runtime
    try:
        while len(execs) * STEP < MOST:
            with stream:
                stream.begin_capture()
                pointer = runtime.mallocAsync(STEP, stream.ptr)
                runtime.memsetAsync(pointer, 1, STEP, stream.ptr)
                graph = stream.end_capture()
                graph.launch(stream)
            stream.synchronize()
            execs.append(graph)
        say("stopped", "no")
    except Exception as refused:
        say("stopped", ("ordinary " if "OutOfMemory" in str(refused) or "emoryAllocation" in str(refused) else "STRANGE ") + str(refused)[:80])
    say("held_mib", len(execs) * STEP >> 20)
    time.sleep(1.0)


def with_jax(allocator):
    if allocator:
        os.environ["XLA_PYTHON_CLIENT_ALLOCATOR"] = allocator
    import jax.numpy as jnp

    say("correct", float(jnp.arange(1 << 16, dtype=jnp.float32).max()) == 65535.0)
    grow(lambda: jnp.zeros(STEP, dtype=jnp.uint8).block_until_ready(), None)


def with_cupy(asynchronous):
    import cupy

    if asynchronous:
        cupy.cuda.set_allocator(cupy.cuda.MemoryAsyncPool().malloc)
    say("correct", int(cupy.arange(1 << 20).sum()) == 2**19 * (2**20 - 1))
    grow(lambda: cupy.empty(STEP, dtype=cupy.uint8), cupy.cuda.memory.OutOfMemoryError)


WAYS = {
    "torch": lambda: with_torch(None),
    "torch-async": lambda: with_torch("backend:cudaMallocAsync"),
    "torch-expandable": lambda: with_torch("expandable_segments:True"),
    "graph": with_graph,
    "jax": lambda: with_jax(None),
    "jax-platform": lambda: with_jax("platform"),
    "cupy": lambda: with_cupy(False),
    "cupy-async": lambda: with_cupy(True),
}


def run(way):
    WAYS[way]()


if __name__ == "__main__":
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    if count == 1:
        WAYS[sys.argv[1]]()
    else:
        context = multiprocessing.get_context("spawn")
        jobs = [context.Process(target=run, args=(sys.argv[1],)) for _ in range(count)]
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()
