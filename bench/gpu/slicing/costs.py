"""What time slices cost when nobody uses them: the start of CUDA, and a launch. SLUICE_SLICES=0 against 1, by turns."""
import os
import statistics
import subprocess
import sys
import time

from kit import Late, SIMULATED

ROUNDS = int(os.environ.get("ROUNDS", "4" if SIMULATED else "12"))
WAYS = [("no library", None), ("quota, slices 0", {"SLUICE_SLICES": "0"}), ("quota, slices 1", {"SLUICE_SLICES": "1"}),
        ("weight, slices 0", {"SLUICE_SLICES": "0", "SLUICE_WEIGHT": "1"}), ("weight, slices 1", {"SLUICE_SLICES": "1", "SLUICE_WEIGHT": "1"})]
START = """import ctypes, time
began = time.monotonic()
cuda, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
status = cuda.cuInit(0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) or cuda.cuCtxSetCurrent(context) or cuda.cuCtxSynchronize()
print("start", 1e3 * (time.monotonic() - began), status, flush=True)
"""
PAIRS = [("quota, slices 0", "quota, slices 1"), ("weight, slices 0", "weight, slices 1")]


def environment(run, settings):
    if settings is None:
        return run.environment()
    return run.environment(LD_PRELOAD=run.library(), SLUICE_RUNTIME_DIR=run.folder(), SLUICE_MEMORY="4g" if SIMULATED else "64g", **settings)


def once(run, command, settings, word):
    began = time.monotonic()
    done = subprocess.run(command, env=environment(run, settings), capture_output=True, text=True, timeout=max(1, min(30, run.left())), check=False)
    seconds = time.monotonic() - began
    line = next((line.split() for line in done.stdout.splitlines() if line.startswith(word)), None)
    if not line:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()[-120:]}")
    return line, seconds


def measure(run, found, number):
    turn = number % len(WAYS)
    for name, settings in WAYS[turn:] + WAYS[:turn]:
        run.need(3)
        line, seconds = once(run, [sys.executable, "-c", START], settings, "start ")
        found.setdefault(("start of CUDA, ms", name), []).append(float(line[1]))
        found.setdefault(("whole process, ms", name), []).append(1e3 * seconds)
        line, _ = once(run, [os.path.join(run.home, "lib", "test", "cost"), "20000", "9", "launch"], settings, "launch ")
        found.setdefault(("launch, ns", name), []).append(float(line[2]))


def cost(run):
    found = {}
    for number in range(ROUNDS):
        try:
            measure(run, found, number)
        except (Late, RuntimeError, subprocess.TimeoutExpired) as problem:
            run.say(f"cost: {str(problem)[:200]}")
            break
        show(run, found)
    run.note("cost", values={f"{what}/{name}": values for (what, name), values in found.items()})


def show(run, found):
    lines = [f"The least and the median of {max(map(len, found.values()), default=0)} rounds, by turns. A launch of no function is refused by the driver: only the way there counts.", "",
             "| what | " + " | ".join(name for name, _ in WAYS) + " |", "|---|" + "---:|" * len(WAYS)]
    for what in dict.fromkeys(what for what, _ in found):
        cells = [f"{min(found[what, name]):.1f}, {statistics.median(found[what, name]):.1f}" if (what, name) in found else "-" for name, _ in WAYS]
        lines.append(f"| {what} | " + " | ".join(cells) + " |")
    run.table("cost", "\n".join(lines))
    run.say(lines[-1])

    def added(what, least):
        pick = min if least else statistics.median
        return [pick(found[what, after]) - pick(found[what, before]) for before, after in PAIRS if (what, after) in found and (what, before) in found]

    start, median, launch = added("start of CUDA, ms", True), added("start of CUDA, ms", False), added("launch, ns", True)
    if start and launch:
        run.conclude("cost of slices when unused", "start + 1 ms, launch + 0",
                     "start " + ", ".join(f"{value:+.2f} ms" for value in start) + " by the least, " + ", ".join(f"{value:+.2f} ms" for value in median)
                     + " by the median; launch " + ", ".join(f"{value:+.1f} ns" for value in launch) + " (quota; weight)")
