"""A process that works on the GPU with PyTorch, JAX or CuPy, as it is told (servers.py).

usage: sharing.py serve CASE,CASE…     a case of compute.py, bursts, jax or cupy

Busy is the union of kernels and copies with gaps under 3 us, after the first second. CUPTI, switched on by torch.profiler, sees what any
library of the process does on the GPU, so it is the witness for JAX and CuPy too.
"""
import os
import sys
import time

import servers

SECOND_NS = 1_000_000_000
BURST_PERIOD = 0.02


def torch_case(name):
    import compute

    step = compute.warmed(name)
    return lambda seconds, done=None: compute.loop(step, seconds, done)


def kept_ahead(step, mark, wait, seconds, done=None):
    """Steps for a while; a mark every few steps keeps the program from running far ahead of the GPU. Adds to done when the GPU had done
    each five."""
    steps, queued = 0, []
    started = time.monotonic()
    while time.monotonic() - started < seconds:
        for _ in range(5):
            step()
        steps += 5
        queued.append(mark())
        if len(queued) > 8:
            wait(queued.pop(0))
            if done is not None:
                done.append(time.time_ns())
    for one in queued:
        wait(one)
    return steps / (time.monotonic() - started)


def jax_case():
    import jax
    import jax.numpy as jnp

    state = [jax.random.normal(jax.random.key(0), (4096, 4096), dtype=jnp.bfloat16)]
    turn = jax.jit(lambda a: jnp.tanh(a @ a) * jnp.bfloat16(0.1))

    def step():
        state[0] = turn(state[0])

    for _ in range(5):
        step()
    state[0].block_until_ready()
    return lambda seconds: kept_ahead(step, lambda: state[0], lambda array: array.block_until_ready(), seconds)


def cupy_case():
    import cupy

    a = cupy.random.default_rng(0).standard_normal((2048, 2048), dtype=cupy.float32)

    def step():
        cupy.tanh(a @ a)

    def mark():
        event = cupy.cuda.Event(disable_timing=True)
        event.record()
        return event

    for _ in range(5):
        step()
    mark().synchronize()
    return lambda seconds: kept_ahead(step, mark, lambda event: event.synchronize(), seconds)


def witnessed(loop, seconds, thorough, worked):
    """Shares by CUPTI; without them if it saw nothing. Tells when the GPU is free again: records of small kernels take a second to read."""
    try:
        import compute
        from torch.profiler import ProfilerActivity, profile
    except Exception as missing:  # beside another framework the import itself may fail in many ways
        print(f"no witness: {missing}", file=sys.stderr)
        return {"rate": loop(seconds), "kernels": 0}
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA] if thorough else [ProfilerActivity.CUDA]
    with profile(activities=activities, record_shapes=thorough) as recorded:
        began = time.time_ns()
        rate = loop(seconds)
        worked()
    merged, kernels = compute.spans(recorded)
    if not merged:
        return {"rate": rate, "kernels": 0}
    first = merged[0][0]
    shift = began - first if abs(began - first) > SECOND_NS else 0
    until = min(merged[-1][1], first + int(seconds * SECOND_NS))
    settled = min(first + SECOND_NS, first + (until - first) // 2)
    tenth = SECOND_NS // 10
    return {
        "rate": rate, "kernels": kernels, "began_ns": first + shift, "share": compute.share(merged, settled, until),
        "windows": [compute.share(merged, at, at + SECOND_NS) for at in range(settled, until - SECOND_NS + 1, SECOND_NS)],
        "tenths": [compute.share(merged, at, at + tenth) for at in range(first, until - tenth + 1, tenth)],
    }


def paced(loop, seconds):
    """The times at which each five steps were done, without a profiler."""
    done = []
    loop(seconds, done)
    return {"done_ns": done}


class Bursts:
    """2 ms of matmuls every 20 ms."""

    def __init__(self):
        import compute

        self.step = compute.warmed("matmul")
        self.count = 10

    def calibrate(self):
        import torch

        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(50):
            self.step()
        end.record()
        end.synchronize()
        one = begin.elapsed_time(end) / 50
        self.count = max(1, round(2.0 / one))
        return {"count": self.count, "share": 100 * self.count * one / 1e3 / BURST_PERIOD}

    def run(self, seconds):
        import torch

        responses, began, beat = [], time.time_ns(), time.monotonic()
        until = beat + seconds
        while beat < until:
            time.sleep(max(0, beat - time.monotonic()))
            asked = time.monotonic()
            for _ in range(self.count):
                self.step()
            torch.cuda.synchronize()
            responses.append((time.monotonic() - asked) * 1e3)
            beat += BURST_PERIOD
        judged = sorted(responses[len(responses) // 4:])
        return {"p99": judged[min(len(judged) - 1, int(len(judged) * 0.99))], "median": judged[len(judged) // 2], "most": judged[-1],
                "bursts": len(judged), "began_ns": began, "ended_ns": time.time_ns()}


LOOPS = {"jax": jax_case, "cupy": cupy_case}


def serve(cases):
    say = servers.speaker()
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    for framework in {case if case in LOOPS else "torch" for case in cases}:
        __import__(framework)
    say(imported=cases)
    bursts, loops = None, {}
    for case in cases:
        if case == "bursts":
            bursts = Bursts()
        else:
            loops[case] = LOOPS.get(case, lambda: torch_case(case))()
            witnessed(loops[case], 0.1, False, lambda: None)  # the first one takes a second or two to begin
    say(ready=cases)
    for line in sys.stdin:
        verb, *words = line.split()
        try:
            if verb == "calibrate":
                answer = bursts.calibrate()
            elif verb == "bursts":
                answer = bursts.run(float(words[0]))
            elif verb == "pace":
                answer = paced(loops[words[0]], float(words[1]))
            else:
                answer = witnessed(loops[words[0]], float(words[1]), verb == "thorough", lambda: say(worked=verb))
        except Exception as failed:  # told to the parent, which goes on with the others
            answer = {"error": f"{type(failed).__name__}: {failed}".splitlines()[0][:200]}
        say(**answer)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "serve":
        sys.exit(__doc__)
    serve(sys.argv[2].split(","))
