#!/usr/bin/env python3
"""Pause, release and resume on a real GPU: are the results the same, how long does it take, what does it cost.

    bench/gpu/pause.py HOME OUT [equal|latency|rates|cost|training ...]     (PyTorch, JAX, CuPy for equal; MOST_SECONDS=560)

HOME is a distribution, or a checkout in which native/ is built. It needs no Java: bench/soak/pausing.py writes the commands. Tables go to OUT/table.txt,
those of rates also to OUT/rates.csv, and as a plot of rate over size to OUT/rates.svg. With OLDER=HOME2 `rates` measures an older library by turns. On a simulated GPU (LD_LIBRARY_PATH=sim/target/cmake) `rates` and `cost` run as well.
"""
import os
import random
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "soak"))
import pausing  # noqa: E402
import plot  # noqa: E402

BEGAN = time.monotonic()
MOST = float(os.environ.get("MOST_SECONDS", "560"))
PAUSES = int(os.environ.get("PAUSES", "25"))
GIB = 1 << 30
# kind, environment, depths, steps
KINDS = [
    ("torch", {"SLUICE_MAPPED": "1"}, (1, 2, 3), 3000),
    ("async", {"SLUICE_MAPPED": "1"}, (1, 2, 3), 3000),
    ("expandable", {"SLUICE_MAPPED": "1"}, (1, 2, 3), 3000),
    ("graph", {"SLUICE_MAPPED": "1"}, (1, 2, 3), 4000),
    ("compile", {"SLUICE_MAPPED": "1"}, (1, 2, 3), 3000),
    ("jax", {"SLUICE_MAPPED": "1"}, (1, 2, 3), 3000),
    ("cupy", {"SLUICE_MAPPED": "1"}, (1, 2, 3), 1500),
    ("ipc", {}, (1, 2), 400),
    ("ipc-mapped", {"SLUICE_MAPPED": "1"}, (1, 2), 400),
]
KINDS = [kind for kind in KINDS if not os.environ.get("KINDS") or kind[0] in os.environ["KINDS"].split(",")]


def say(text):
    print(text, flush=True)
    with open(os.path.join(OUT, "table.txt"), "a") as table:
        table.write(text + "\n")


def left():
    return MOST - (time.monotonic() - BEGAN)


def part(*names, home=None):
    for name in names:
        path = os.path.join(home or HOME, name)
        if os.path.exists(path):
            return os.path.abspath(path)
    sys.exit(f"there is no {names[0]} in {home or HOME}")


def on_gpu(pid):
    """MiB that nvidia-smi shows for the process; None: it is not listed."""
    text = subprocess.run(["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"], capture_output=True, text=True).stdout
    found = [int(line.split(",")[1]) for line in text.splitlines() if line.split(",")[0].strip() == str(pid)]
    return sum(found) if found else None


class Job:
    """A program under the library, or another one, in a runtime directory of its own."""

    def __init__(self, name, command, extra=None, library=True, other=None):
        self.folder = tempfile.mkdtemp(prefix="pause-", dir=WORK)
        self.log = os.path.join(OUT, name + ".log")
        environment = dict(os.environ, PYTHONUNBUFFERED="1", **(extra or {}))
        if library:
            environment.update(SLUICE_RUNTIME_DIR=self.folder, LD_PRELOAD=other or LIBRARY, SLUICE_ON_ERROR="fail")
            environment.setdefault("SLUICE_MEMORY", "120g")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=open(self.log, "w"), text=True, env=environment)
        self.lines, self.ready = [], threading.Event()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append((time.monotonic(), line.strip()))
            if line.startswith("ready"):
                self.ready.set()
        self.ready.set()

    def tenant(self):
        return pausing.find(self.folder)

    def value(self, word):
        return next((line.split(maxsplit=1)[1] for _, line in self.lines if line.startswith(word + " ")), None)

    def end(self, seconds):
        try:
            self.process.wait(max(1, seconds))
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "time"
        time.sleep(0.2)
        return self.process.returncode


def disturb(name, job, depths, results):
    result = results[name] = {"pauses": [0, 0, 0, 0], "error": "", "difference": []}
    if not job.ready.wait(max(1, min(150, left()))) or job.process.poll() is not None:
        result["error"] = "never ready"
        return
    try:
        tenant = job.tenant()
        for number in range(PAUSES):
            time.sleep(random.random() * 0.25)
            for depth in sorted(random.sample(depths, random.choice((1, 1, 2)) if len(depths) > 1 else 1)):
                if job.process.poll() is not None or left() < 30:
                    break
                tenant.ask(depth)
                tenant.wait(60)
                result["pauses"][depth] += 1
                if number % 8 == 0:
                    seen = on_gpu(job.process.pid)
                    result["difference"].append((tenant.charged() >> 20) - (seen or 0))
                time.sleep(random.random() * 0.1)
            tenant.ask(pausing.RUN)
            tenant.wait(60)
    except Exception as problem:  # noqa: BLE001: told in the table
        if job.process.poll() is None:
            result["error"] = str(problem)[:300]
            tenant.ask(pausing.RUN)


def equal():
    """Paused at random in all depths, and never: the same weights?"""
    job_py = os.path.join(HERE, "pause_job.py")
    pairs = {kind: (Job(kind + "-plain", [sys.executable, job_py, kind, str(steps)], {}, library=False),
                    Job(kind + "-paused", [sys.executable, job_py, kind, str(steps)], extra)) for kind, extra, _, steps in KINDS}
    results = {}
    threads = [threading.Thread(target=disturb, args=(kind, pairs[kind][1], depths, results)) for kind, _, depths, _ in KINDS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    say("| job | held, released, vacated | ledger - nvidia-smi, MiB | digest | undisturbed | verdict |\n|---|---|---|---|---|---|")
    for kind, (plain, paused) in pairs.items():
        ends = plain.end(min(120, left() - 15)), paused.end(min(120, left() - 10))
        result = results[kind]
        digests = plain.value("digest"), paused.value("digest")
        verdict = "equal" if ends == (0, 0) and digests[0] == digests[1] and not result["error"] else f"BROKEN {ends} {result['error']}"
        seen = result["difference"]
        say(f"| {kind} | {', '.join(map(str, result['pauses'][1:]))} | {min(seen, default='-')} … {max(seen, default='-')} | {digests[1]} | {digests[0]} | {verdict} |")


def percentile(values, part_of_all):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part_of_all))]


def latency():
    """From the command to no work on the GPU, with kernels of about 1 ms in the queue, few at a time."""
    code = ("import torch,time\na=torch.randn(4096,4096,device='cuda',dtype=torch.bfloat16)\nfor _ in range(30):a@a\ntorch.cuda.synchronize()\n"
            "t=time.perf_counter()\nfor _ in range(50):a@a\ntorch.cuda.synchronize()\nprint('kernel',(time.perf_counter()-t)/50*1e3,flush=True)\n"
            "print('ready',flush=True)\nend=time.time()+25\nwhile time.time()<end:\n for _ in range(4):a@a\n torch.cuda.synchronize()\n")
    job = Job("latency", [sys.executable, "-c", code], {"SLUICE_MAPPED": "1"})
    job.ready.wait(90)
    tenant, spans, resumes = job.tenant(), [], []
    until = time.monotonic() + min(15, left() - 10)
    while time.monotonic() < until and job.process.poll() is None:
        time.sleep(random.random() * 0.02)
        tenant.ask(pausing.HOLD)
        spans.append(tenant.wait(5) * 1e3)
        time.sleep(0.005)
        tenant.ask(pausing.RUN)
        resumes.append(tenant.wait(5) * 1e3)
    kernel = float(job.value("kernel") or 0)
    say(f"latency of a hold, ms: median {statistics.median(spans):.2f}, p99 {percentile(spans, .99):.2f}, most {max(spans):.2f} ({len(spans)} pauses; "
        f"4 kernels of {kernel:.2f} ms in flight); resume median {statistics.median(resumes):.2f}, p99 {percentile(resumes, .99):.2f}")
    job.process.kill()


def moved(record, before, way):
    gib = record[way + "_bytes"] - before[way + "_bytes"]
    nanos = record[way + "_nanos"] - before[way + "_nanos"]
    return gib / nanos if nanos else 0  # GB/s


class Rates:
    """A row for each move: a table for people, and rates.csv and rates.svg for the page of results."""

    def __init__(self):
        self.path = os.path.join(OUT, "rates.csv")
        with open(self.path, "w") as file:
            file.write("mib,way,direction,host_memory,repeat,seconds,gb_per_s\n")

    def add(self, mib, way, direction, host, repeat, seconds, rate=None):
        rate = (mib << 20) / seconds / 1e9 if rate is None else rate
        with open(self.path, "a") as file:
            file.write(f"{mib},{way},{direction},{host},{repeat},{seconds:.4f},{rate:.2f}\n")
        return f"{rate:.1f}"

    def draw(self):
        plot.plot(self.path, os.path.join(OUT, "rates.svg"))


def holder(name, mib, mapped, other=None):
    job = Job(name, [sys.executable, os.path.join(HERE, "rates_job.py"), str(mib)], {"SLUICE_MAPPED": str(int(mapped))}, other=other)
    if not job.ready.wait(max(1, min(90, left() - 10))) or job.process.poll() is not None:
        job.process.kill()
        raise RuntimeError(f"{name} was never ready; see {job.log}")
    return job


def ask(tenant, depth, seconds=60):
    tenant.ask(depth)
    return tenant.wait(max(1, min(seconds, left() - 5)))


def prepare(tenant, mib):
    struct.pack_into("<Q", tenant.map, pausing.PREPARED, (mib << 20) + (256 << 20))
    tenant.wake()
    until = time.monotonic() + min(40, left() - 20)
    while tenant.records()[0]["reservoir"] < mib << 20:
        if time.monotonic() > until:
            raise RuntimeError("host memory was not made ready in time")
        time.sleep(0.05)


def release_and_back(rates, tenant, mib, kind, repeat):
    """The way back of memory whose process kept its contexts."""
    ask(tenant, pausing.HOLD, 10)
    ask(tenant, pausing.RELEASE)
    before = tenant.records()[0]
    seconds = ask(tenant, pausing.HOLD)
    rate = rates.add(mib, "release", "straight back", kind, repeat, seconds, moved(tenant.records()[0], before, "back"))
    ask(tenant, pausing.RUN, 10)
    return rate, seconds


def vacate_at_once(rates, tenant, mib, kind, repeat):
    """From running to vacated with one order, which is where host memory that is not registered need not be."""
    before = tenant.records()[0]
    ask(tenant, pausing.HOLD, 10)
    seconds = ask(tenant, pausing.VACATE)
    out = rates.add(mib, "vacate at once", "out", kind, repeat, seconds, moved(tenant.records()[0], before, "out"))
    ask(tenant, pausing.RUN)
    return out, seconds


def release_and_vacate(rates, mib, prepared, older=None):
    """Sluice's own way, for memory that is mapped: released, then the driver's state after it, and back."""
    job = holder(f"rates-{mib}-{'prepared' if prepared else 'new'}{'-older' if older else ''}", mib, True, older)
    try:
        tenant = job.tenant()
        if prepared:
            prepare(tenant, mib)
        for repeat in range(3 if prepared else 2):
            kind = ("older, " if older else "") + ("prepared" if prepared else "new" if repeat == 0 else "used before")
            before = tenant.records()[0]
            ask(tenant, pausing.HOLD, 10)
            out_s = ask(tenant, pausing.RELEASE)
            after = tenant.records()[0]
            out = rates.add(mib, "release", "out", kind, repeat, out_s, moved(after, before, "out"))
            try:
                store_s = f"{ask(tenant, pausing.VACATE, 20):.3f}"
                stays = on_gpu(job.process.pid) if shutil.which("nvidia-smi") else "-"
                restore_s = f"{ask(tenant, pausing.RELEASE, 20):.3f}"
            except Exception as problem:  # noqa: BLE001: the way back is measured all the same
                store_s, restore_s, stays = str(problem)[:40], "-", "-"
            back_s = ask(tenant, pausing.HOLD)
            back = rates.add(mib, "release", "back", kind, repeat, back_s, moved(tenant.records()[0], after, "back"))
            ask(tenant, pausing.RUN, 10)
            straight, straight_s = release_and_back(rates, tenant, mib, kind, repeat)
            at_once, at_once_s = vacate_at_once(rates, tenant, mib, kind, repeat)
            say(f"| {mib} | {kind} | {out} | {out_s:.3f} | {back} | {back_s:.3f} | {store_s} | {restore_s} | {'not listed' if stays is None else stays} | {straight} | {straight_s:.3f} | {at_once} | {at_once_s:.3f} |")
        time.sleep(0.2)
        if job.process.poll() is not None or any(line.startswith("wrong") for _, line in job.lines):
            say(f"| {mib} | BROKEN: the job ended, or its memory has changed |")
    finally:
        job.process.kill()
        job.process.wait()


def checkpoint(rates, mib):
    """The driver's own checkpoint of the same program, whose memory stays with the driver."""
    job = holder(f"rates-{mib}-driver", mib, False)
    try:
        tenant = job.tenant()
        ask(tenant, pausing.RELEASE)
        out_s = ask(tenant, pausing.VACATE)
        out = rates.add(mib, "driver's checkpoint", "out", "", 0, out_s)
        back_s = ask(tenant, pausing.RELEASE)
        back = rates.add(mib, "driver's checkpoint", "back", "", 0, back_s)
        ask(tenant, pausing.RUN)
        say(f"| {mib} | driver's checkpoint | {out} | {out_s:.3f} | {back} | {back_s:.3f} | - | - | - | - | - | - | - |")
    finally:
        job.process.kill()
        job.process.wait()


def rates():
    """A job that holds memory, released and vacated; host memory made ready ahead (p) or not (n); the driver's own checkpoint (d).

    RATES=64p,64n,64d chooses sizes in MiB and ways. With OLDER each row of p and n is followed by those of the older library."""
    sizes = [64 << power for power in range(10)]
    every = [f"{mib}{way}" for mib in [32768, 8192, 1024] + [mib for mib in sizes if mib not in (32768, 8192, 1024)] for way in "pnd"]
    found = Rates()
    say("| MiB | host memory | released, GB/s | s | back after a vacate, GB/s | s | vacated, s | restored, s | left on the GPU, MiB | straight back, GB/s | s | vacated at once, GB/s | s |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for word in os.environ["RATES"].split(",") if os.environ.get("RATES") else every:
        mib, way = int(word[:-1]), word[-1]
        if left() < 20 + mib / 400:
            say(f"| {mib} | {way} | no time left |")
            continue
        try:
            if way == "d":
                checkpoint(found, mib)
            else:
                release_and_vacate(found, mib, way == "p")
                if OLDER:
                    release_and_vacate(found, mib, way == "p", OLDER)
        except Exception as problem:  # noqa: BLE001: the next size runs all the same
            say(f"| {mib} | {way} | {type(problem).__name__} {problem} |")
        found.draw()


def cost():
    """alloc + free and launches: no library, ordinary memory, mapped memory; interleaved; the least of all rounds."""
    values = {}
    for _ in range(4):
        for name, extra in (("none", None), ("ordinary", {"SLUICE_MAPPED": "0"}), ("mapped", {"SLUICE_MAPPED": "1"})):
            if left() < 30:
                break
            environment = dict(os.environ, **(extra or {}))
            if extra:
                environment.update(LD_PRELOAD=LIBRARY, SLUICE_MEMORY="64g", SLUICE_RUNTIME_DIR=tempfile.mkdtemp(dir=WORK))
            text = subprocess.run([COST, "2000"], capture_output=True, text=True, env=environment, timeout=40).stdout
            for line in text.splitlines():
                *what, nanos = line.split()
                if re.fullmatch(r"[\d.]+", nanos):
                    values.setdefault(" ".join(what), {}).setdefault(name, []).append(float(nanos))
    say("| ns, least of 4 | none | ordinary | mapped |\n|---|---|---|---|")
    for what, found in values.items():
        say(f"| {what} | " + " | ".join(f"{min(found[name]):.0f}" if name in found else "-" for name in ("none", "ordinary", "mapped")) + " |")


def training():
    """Steps of a training that keeps the GPU busy: no library, ordinary, mapped; interleaved in time slices of one process each."""
    code = ("import torch,time,sys\ntorch.manual_seed(1)\nm=torch.nn.Sequential(*[l for _ in range(6) for l in (torch.nn.Linear(4096,4096),torch.nn.GELU())]).cuda()\n"
            "o=torch.optim.AdamW(m.parameters())\nx=torch.randn(4096,4096,device='cuda')\n"
            "def s():\n o.zero_grad();((m(x)-x)**2).mean().backward();o.step()\n"
            "for _ in range(5):s()\ntorch.cuda.synchronize()\nb=[]\nfor _ in range(6):\n t=time.perf_counter()\n for _ in range(5):s()\n torch.cuda.synchronize();b.append((time.perf_counter()-t)/5*1e3)\n"
            "print('step',min(b),sorted(b)[3])\n")
    found = {}
    for _ in range(2):
        for name, extra in (("none", None), ("ordinary", {"SLUICE_MAPPED": "0"}), ("mapped", {"SLUICE_MAPPED": "1"})):
            if left() < 25:
                break
            job = Job("training-" + name, [sys.executable, "-c", code], extra or {}, library=extra is not None)
            job.end(min(40, left()))
            if job.value("step"):
                found.setdefault(name, []).append([float(value) for value in job.value("step").split()])
    for name, values in found.items():
        say(f"training step, ms: {name} least {min(v[0] for v in values):.2f}, median {statistics.median(v[1] for v in values):.2f}")


HOME, OUT = sys.argv[1], sys.argv[2]
os.makedirs(OUT, exist_ok=True)
WORK = tempfile.mkdtemp(prefix="sluice-pause-", dir="/dev/shm")
LIBRARY = part("lib/libsluice.so", "native/target/cmake/libsluice.so")
OLDER = os.environ.get("OLDER") and part("lib/libsluice.so", "native/target/cmake/libsluice.so", home=os.environ["OLDER"])
COST = part("lib/test/cost", "native/target/cmake/test/cost")
try:
    for name in sys.argv[3:] or ["equal", "latency", "rates", "cost", "training"]:
        began = time.monotonic()
        if left() < 30:
            say(f"== {name}: no time left")
            continue
        try:
            globals()[name]()
        except Exception as problem:  # noqa: BLE001: the next part runs all the same
            say(f"{name}: {type(problem).__name__} {problem}")
        say(f"== {name}: {time.monotonic() - began:.0f} s")
finally:
    shutil.rmtree(WORK, ignore_errors=True)
