"""What the parts of slices.py share: the processes that they start, the time that is left, and what they write."""
import atexit
import json
import os
import queue
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SIMULATED = bool(os.environ.get("SIMULATED"))
QUOTA = ["--memory", "4g" if SIMULATED else "30g"]


class Late(Exception):
    """There is no time left for it."""


class Run:
    """One run of the script. Every table is written again after each measurement, and every value goes to raw.jsonl, so an interrupted run keeps its results."""

    def __init__(self, home, output, seconds):
        self.home, self.output = os.path.abspath(home), os.path.abspath(output)
        self.end = self.part_end = time.monotonic() + seconds
        self.began = time.monotonic()
        self.sections, self.short, self.jobs, self.count, self.warming = {}, [], [], 0, None
        os.makedirs(os.path.join(self.output, "logs"), exist_ok=True)
        self.raw = open(os.path.join(self.output, "raw.jsonl"), "w", encoding="utf-8")
        self.work = tempfile.mkdtemp(prefix="sluice-slices-", dir="/dev/shm")
        atexit.register(self.close)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(143))

    def left(self):
        return min(self.end, self.part_end) - time.monotonic()

    def need(self, seconds):
        if self.left() < seconds:
            raise Late(f"{seconds:.0f} s needed, {max(0, self.left()):.0f} s left")

    def say(self, text):
        print(f"{time.monotonic() - self.began:5.0f} s  {text}", flush=True)

    def note(self, part, **values):
        self.raw.write(json.dumps({"part": part, "at": round(time.monotonic() - self.began, 3), **values}) + "\n")
        self.raw.flush()

    def table(self, name, text):
        self.sections[name] = text
        self.write()

    def conclude(self, what, target, found):
        """A line of the short table at the end."""
        self.short = [line for line in self.short if line[0] != what] + [(what, target, found)]
        self.write()

    def write(self):
        text = "\n".join(["# Time slices, " + time.strftime("%Y-%m-%d %H:%M"), "", machine(), ""] + [f"## {name}\n\n{body}\n" for name, body in self.sections.items()] + [self.summary()])
        with open(os.path.join(self.output, "slices.md"), "w", encoding="utf-8") as file:
            file.write(text + "\n")

    def summary(self):
        return "\n".join(["## In short", "", "| what | target | found |", "|---|---|---|"] + ["| " + " | ".join(line) + " |" for line in self.short])

    def picture(self, name, svg):
        with open(os.path.join(self.output, name + ".svg"), "w", encoding="utf-8") as file:
            file.write(svg)

    def library(self, name="libsluice.so"):
        return os.path.join(self.home, "lib", name)

    def folder(self):
        """A runtime directory of its own: tenants in different ones do not see each other."""
        return tempfile.mkdtemp(dir=self.work)

    def environment(self, **more):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SLUICE_") or name.startswith("SLUICE_SIM_")}
        environment.update(PYTHONUNBUFFERED="1", **more)
        if SIMULATED:
            environment["LD_LIBRARY_PATH"] = os.path.join(self.home, "lib", "sim")
            environment["SLUICE_SIM_STATE"] = os.path.join(self.work, "gpu")
        return environment

    def sluice(self, *words, folder, seconds=30):
        return subprocess.run([os.path.join(self.home, "bin", "sluice"), *words], capture_output=True, text=True, timeout=seconds, check=False,
                              env=self.environment(SLUICE_RUNTIME_DIR=folder))

    def warm(self):
        """Reads PyTorch from the disk in the background: on a fresh machine its first import takes half a minute."""
        if not SIMULATED:
            self.warming = subprocess.Popen(["nice", "-n", "10", sys.executable, os.path.join(HERE, "..", "warm.py")], stdin=subprocess.DEVNULL, start_new_session=True,
                                            stdout=open(os.path.join(self.output, "logs", "warm.log"), "w", encoding="utf-8"), stderr=subprocess.STDOUT)

    def await_warm(self):
        if self.warming:
            began = time.monotonic()
            try:
                self.warming.wait(max(1, min(90, self.left())))
            except subprocess.TimeoutExpired:
                self.warming.kill()
                self.warming.wait()
            self.warming = None
            self.say(f"waited {time.monotonic() - began:.0f} s for PyTorch to be read from the disk")

    def pack(self):
        """The logs of all processes as one file."""
        logs = os.path.join(self.output, "logs")
        with tarfile.open(logs + ".tar.gz", "w:gz") as packed:
            packed.add(logs, "logs")
        shutil.rmtree(logs, ignore_errors=True)

    def close(self):
        for job in list(self.jobs):
            job.kill()
        if self.warming:
            self.warming.kill()
            self.warming.wait()
        shutil.rmtree(self.work, ignore_errors=True)


def machine():
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8") as file:
            driver = file.readline().strip()
    except OSError:
        driver = "simulated GPU" if SIMULATED else "no NVIDIA driver"
    return f"{driver}; uid {os.getuid()}; {os.cpu_count()} processors; {time.strftime('%Z %z')}"


class Job:
    """A process of job.py. options: as of `sluice run`; None: without Sluice. preload: a library in place of `sluice run`."""

    def __init__(self, run, name, words, options=None, folder=None, slices="1", log="info", preload=None, **more):
        run.count += 1
        self.run, self.name, self.of_mps = run, name, "CUDA_MPS_PIPE_DIRECTORY" in more
        self.log = os.path.join(run.output, "logs", f"{run.count:03}-{name}.log")
        command = [sys.executable, os.path.join(HERE, "job.py"), *map(str, words)]
        environment = run.environment(**more)
        if options is not None or preload:
            environment.update(SLUICE_SLICES=slices, SLUICE_LOG=log, SLUICE_RUNTIME_DIR=folder or run.folder())
        if options is not None:
            command = [os.path.join(run.home, "bin", "sluice"), "run", *(["--sim"] if SIMULATED else []), "--name", name, *QUOTA, *options, "--", *command]
        if preload:
            environment.update(LD_PRELOAD=preload, SLUICE_MEMORY=QUOTA[1], SLUICE_ON_ERROR="fail")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(self.log, "w", encoding="utf-8"), text=True,
                                        env=environment, start_new_session=True)
        self.lines = queue.Queue()
        run.jobs.append(self)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self.lines.put(json.loads(line))
        self.lines.put({"ended": True})

    def next(self, key, seconds=20.0):
        until = time.monotonic() + max(0.5, min(seconds, self.run.left() + 5))
        while True:
            try:
                line = self.lines.get(timeout=max(0.01, until - time.monotonic()))
            except queue.Empty:
                raise RuntimeError(f"{self.name}: no '{key}' within {seconds:.0f} s; see {self.log}") from None
            if key in line:
                return line
            if "error" in line:
                raise RuntimeError(f"{self.name}: {line['error']}; see {self.log}")
            if "ended" in line:
                raise RuntimeError(f"{self.name}: ended with {self.process.wait()}; see {self.log}")

    def tell(self, *words):
        try:
            self.process.stdin.write(" ".join(map(str, words)) + "\n")
            self.process.stdin.flush()
        except OSError:
            raise RuntimeError(f"{self.name}: ended with {self.process.poll()}; see {self.log}") from None

    def ask(self, key, *words, seconds=20.0):
        self.tell(*words)
        return self.next(key, seconds)

    def lives(self):
        return self.process.poll() is None

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        self.process.wait()
        if self in self.run.jobs:
            self.run.jobs.remove(self)

    def close(self, seconds=8.0):
        """Ends by itself. True: it did."""
        try:
            self.process.stdin.close()
            self.process.wait(seconds)
        except (subprocess.TimeoutExpired, OSError):
            pass
        ended = not self.lives() and self.process.returncode == 0
        self.kill()
        return ended

    def warnings(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return [line.strip() for line in file if "slice" in line or "warning" in line.lower() or "error" in line.lower()]


def verdict(right):
    return {True: "right", False: "WRONG", None: "not checked"}[right]


def quantile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def spread(values, form="{:.2f}"):
    """Median (least … most)."""
    if not values:
        return "-"
    if len(values) == 1:
        return form.format(values[0])
    return f"{form.format(statistics.median(values))} ({form.format(min(values))} … {form.format(max(values))})"


class Mps:
    """A daemon of NVIDIA's MPS with a pipe folder of its own."""

    def __init__(self, run):
        self.run, self.folder = run, None
        self.obstacle = None if shutil.which("nvidia-cuda-mps-control") else "nvidia-cuda-mps-control is not installed"
        if SIMULATED and not self.obstacle:
            self.obstacle = "the simulated GPU has no MPS"

    def begin(self):
        if self.obstacle or self.folder:
            return self.obstacle is None
        self.folder = tempfile.mkdtemp(prefix="mps-")
        atexit.register(self.stop)
        try:
            done = subprocess.run(["nvidia-cuda-mps-control", "-d"], env=dict(os.environ, **self.settings()), capture_output=True, text=True, timeout=15, check=False)
            if done.returncode:
                self.obstacle = f"nvidia-cuda-mps-control ended with {done.returncode}: {(done.stdout + done.stderr).strip()[:100]}"
        except (OSError, subprocess.TimeoutExpired) as problem:
            self.obstacle = str(problem)[:100]
        if self.obstacle:
            self.stop()
        return self.obstacle is None

    def settings(self, **more):
        return {"CUDA_MPS_PIPE_DIRECTORY": self.folder, "CUDA_MPS_LOG_DIRECTORY": self.folder, **more}

    def servers(self):
        try:
            return subprocess.run(["nvidia-cuda-mps-control"], input="get_server_list\n", env=dict(os.environ, **self.settings()), capture_output=True, text=True,
                                  timeout=5, check=False).stdout.split()
        except (OSError, subprocess.TimeoutExpired):
            return []

    def stop(self):
        """The clients are gone before, or the daemon waits for them."""
        folder, self.folder = self.folder, None
        if not folder:
            return
        settings = dict(os.environ, CUDA_MPS_PIPE_DIRECTORY=folder, CUDA_MPS_LOG_DIRECTORY=folder)
        for job in [job for job in self.run.jobs if job.of_mps]:
            job.kill()
        try:
            subprocess.run(["nvidia-cuda-mps-control"], input="quit -t 3\n", env=settings, capture_output=True, text=True, timeout=12, check=False)
        except (OSError, subprocess.TimeoutExpired):
            pass
        try:
            with open(os.path.join(folder, "nvidia-cuda-mps-control.pid"), encoding="utf-8") as file:
                os.kill(int(file.read()), signal.SIGTERM)
        except (OSError, ValueError):
            pass
        shutil.rmtree(folder, ignore_errors=True)
