"""A job to be paused: computes the same on every run, and prints a digest of the result.

usage: pause_job.py KIND STEPS [GIB]    KIND: torch, async, expandable, graph, compile, jax, cupy, ipc, ipc-mapped, hold

Prints "ready" when it is warm, then "step N" now and then, and at the end "digest D". `hold` keeps GIB gibibytes of memory and adds
to all of it in each step. `ipc` has a second process that changes the tensors of the first; `ipc-mapped` is the same.
"""
import hashlib
import os
import sys
import time

KINDS = {"async": "backend:cudaMallocAsync", "expandable": "expandable_segments:True"}
SEED, WIDTH, BATCH, EVERY = 7, 1024, 512, 20


def say(text):
    print(text, flush=True)


def digest(arrays):
    total = hashlib.sha256()
    for array in arrays:
        total.update(array.tobytes())
    return total.hexdigest()[:24]


def progress(at):
    if at % EVERY == 0:
        say(f"step {at}")


def deterministic_torch():
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    import torch

    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.manual_seed(SEED)
    return torch


def use_torch(steps, kind):
    if kind in KINDS:
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = KINDS[kind]
    torch = deterministic_torch()
    layers = [layer for _ in range(6) for layer in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU())]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, capturable=kind == "graph")
    x = torch.randn(BATCH, WIDTH, device="cuda")
    ballast = [torch.full((32 << 20,), float(at), device="cuda") for at in range(8)]  # 1 GiB that only a pause touches
    forward = torch.compile(model) if kind == "compile" else model

    def step():
        optimizer.zero_grad(set_to_none=kind != "graph")
        loss = ((forward(x) - x) ** 2).mean()
        loss.backward()
        optimizer.step()

    run = step
    if kind == "graph":
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        run = graph.replay
    else:
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    say("ready")
    for at in range(steps):
        run()
        other = torch.empty(1 << (18 + at % 8), device="cuda").fill_(at)  # memory comes and goes
        del other
        if at % 10 == 9:
            torch.cuda.synchronize()
        progress(at)
    say("digest " + digest([p.detach().cpu().numpy() for p in model.parameters()] + [b.cpu().numpy() for b in ballast]))


def use_jax(steps):
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_deterministic_ops=true"
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    import jax.numpy as jnp
    import numpy

    weights = [jax.random.normal(jax.random.key(SEED + at), (WIDTH, WIDTH), dtype=jnp.float32) * 0.03 for at in range(4)]
    x = jax.random.normal(jax.random.key(SEED), (BATCH, WIDTH), dtype=jnp.float32)

    def loss(ws):
        y = x
        for w in ws:
            y = jnp.tanh(y @ w)
        return ((y - x) ** 2).mean()

    step = jax.jit(lambda ws: [w - 0.1 * g for w, g in zip(ws, jax.grad(loss)(ws))])
    weights = step(weights)
    jax.block_until_ready(weights)
    say("ready")
    for at in range(steps):
        weights = step(weights)
        if at % 10 == 9:
            jax.block_until_ready(weights)
        progress(at)
    say("digest " + digest([numpy.asarray(w) for w in weights]))


def use_cupy(steps):
    import cupy

    cupy.random.seed(SEED)
    a = cupy.random.rand(2048, 2048, dtype=cupy.float32)
    x = cupy.arange(1 << 24, dtype=cupy.uint32)
    scale = cupy.RawKernel("extern \"C\" __global__ void turn(unsigned *p, int n, unsigned k) {"
                           " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = p[i] * 1664525u + k; }", "turn")
    scale((x.size // 256,), (256,), (x, x.size, 1))
    cupy.cuda.Stream.null.synchronize()
    say("ready")
    for at in range(steps):
        scale((x.size // 256,), (256,), (x, x.size, at))
        a = cupy.tanh(a * 1.01 + 0.01)
        y = cupy.sort(x[: 1 << 20])
        x[: 1 << 20] = y[::-1] + cupy.uint32(at)
        if at % 10 == 9:
            cupy.cuda.Stream.null.synchronize()
        progress(at)
    say("digest " + digest([cupy.asnumpy(x), cupy.asnumpy(a)]))


def change(tensors, steps, turns):
    for at in range(steps):
        turns[0].acquire()
        for tensor in tensors:
            tensor.mul_(3).add_(at)
        import torch

        torch.cuda.synchronize()
        turns[1].release()


def use_ipc(steps):
    torch = deterministic_torch()
    processes = torch.multiprocessing.get_context("spawn")
    tensors = [torch.arange(1 << 22, dtype=torch.int64, device="cuda") + at for at in range(4)]
    turns = processes.Semaphore(0), processes.Semaphore(0)
    other = processes.Process(target=change, args=(tensors, steps + 1, turns))
    other.start()
    for at in range(steps + 1):
        for tensor in tensors:
            tensor.mul_(5).sub_(at)
        torch.cuda.synchronize()
        turns[0].release()
        turns[1].acquire()
        if at == 0:
            say("ready")
        progress(at)
    other.join()
    say("digest " + digest([tensor.cpu().numpy() for tensor in tensors]))


def hold(steps, gib):
    torch = deterministic_torch()
    tensors = [torch.arange(1 << 25, dtype=torch.int64, device="cuda") + at for at in range(4 * gib)]  # 256 MiB each
    torch.cuda.synchronize()
    say("ready")
    at = 0
    while at < steps:
        for tensor in tensors:
            tensor.mul_(3).add_(at)
        torch.cuda.synchronize()
        at += 1
        progress(at)
        time.sleep(0.01)
    total = 0
    for tensor in tensors:
        total = (total * 31 + int(tensor.sum().item())) % (1 << 64)
    say(f"digest {total:016x}")


if __name__ == "__main__":
    kind, steps = sys.argv[1], int(sys.argv[2])
    if kind == "jax":
        use_jax(steps)
    elif kind == "cupy":
        use_cupy(steps)
    elif kind in ("ipc", "ipc-mapped"):
        use_ipc(steps)
    elif kind == "hold":
        hold(steps, int(sys.argv[3]))
    else:
        use_torch(steps, kind)
