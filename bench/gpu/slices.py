#!/usr/bin/env python3
"""Priorities by time slices on a real GPU. usage: slices.py DISTRIBUTION OUTPUT [PART...]   parts: probe, latency, pause; by default all.

probe    what the library finds in a process (SLUICE_LOG=debug): plain CUDA, PyTorch, two contexts, contexts destroyed, checkpoint and restore
latency  bursts of 10 x 100 us every 20 ms beside kernels of 1, 5 and 50 ms and a PyTorch training, all under quotas: alone, plain time-slicing,
         priorities of Sluice without slices, and with them; and the speed of the job beside them
pause    a pause while a kernel of 10 s runs: when its work stops, and whether it goes on

Each process has a limit; the whole takes less than MOST_SECONDS (240). Results: OUTPUT/slices.md, slices.json and the logs of all processes.
"""
import json
import os
import queue
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SLUICE = os.path.join(os.path.abspath(sys.argv[1]), "bin", "sluice")
OUTPUT = sys.argv[2]
PARTS = sys.argv[3:] or ["probe", "latency", "pause"]
END = time.monotonic() + float(os.environ.get("MOST_SECONDS", "240"))
BURSTS = int(os.environ.get("BURSTS", "150"))
SIM = ["--sim"] if os.environ.get("SIMULATED") else []  # tries the script; its kernels do nothing there, so results count as wrong
LINES, DATA = [], {}
ALIVE = []


def left():
    return END - time.monotonic()


def tell(text):
    LINES.append(text)
    print(text, flush=True)
    with open(os.path.join(OUTPUT, "slices.md"), "w") as file:
        file.write("\n".join(LINES) + "\n")
    with open(os.path.join(OUTPUT, "slices.json"), "w") as file:
        json.dump(DATA, file)


class Job:
    def __init__(self, name, words, options=None, slices="1", log="info", **more):
        command = [sys.executable, os.path.join(HERE, "slices_job.py"), *map(str, words)]
        if options is not None:
            command = [SLUICE, "run", *SIM, "--name", name, *options, "--"] + command
        self.log = os.path.join(OUTPUT, name + ".log")
        environment = dict(os.environ, SLUICE_SLICES=slices, SLUICE_LOG=log, **more)
        if SIM and options is None:
            environment["LD_LIBRARY_PATH"] = os.path.join(os.path.dirname(SLUICE), "..", "lib", "sim")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(self.log, "w"), text=True, env=environment)
        self.lines = queue.Queue()
        ALIVE.append(self)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self.lines.put(json.loads(line))
        self.lines.put({"ended": True})

    def next(self, key, seconds):
        until = time.monotonic() + min(seconds, max(1, left()))
        while True:
            try:
                line = self.lines.get(timeout=max(0.01, until - time.monotonic()))
            except queue.Empty:
                raise RuntimeError(f"{self.log}: no '{key}' within {seconds} s")
            if key in line:
                return line
            if "ended" in line:
                raise RuntimeError(f"{self.log}: ended with {self.process.wait()}")

    def say(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def ask(self, word, key, seconds=10):
        self.say(word)
        return self.next(key, seconds)

    def close(self, seconds=8):
        try:
            self.process.stdin.close()
            self.process.wait(seconds)
        except (subprocess.TimeoutExpired, OSError):
            self.process.kill()
            self.process.wait()
        ALIVE.remove(self)


def verdict(right):
    return {True: "right", False: "WRONG", None: "not checked"}[right]


def attempt(what, body):
    try:
        return body()
    except Exception as problem:  # noqa: BLE001: told in the table
        tell(f"| {what} | {str(problem)[:160]} |")
        for job in list(ALIVE):
            job.process.kill()
            job.close()
        return None


def sluice(*words, seconds=30):
    return subprocess.run([SLUICE, *words], capture_output=True, text=True, timeout=seconds, check=False)


def slices_said(log):
    with open(log) as file:
        return [line.strip() for line in file if "slice" in line]


def probe():
    tell("\n## probe\n")
    if not SIM:
        with open("/proc/driver/nvidia/version") as file:
            tell("driver: " + file.readline().strip() + f", uid {os.getuid()}\n")
    for part in ("plain", "contexts", "torch"):
        for auto in ("1", "auto") if part == "plain" else ("1",):
            def one():
                job = Job(f"probe-{part}-{auto}", ["life", part], ["--priority", "normal", "--memory", "20g"], slices=auto, log="debug")
                right = job.next("right", 60)["right"]
                job.close()
                tell(f"### {part}, SLUICE_SLICES={auto}: result {verdict(right)}\n```\n" + "\n".join(slices_said(job.log)) + "\n```")
            attempt(part, one)

    def checkpoint():
        job = Job("probe-vacate", ["life", "plain"], ["--priority", "normal"], log="debug", LIFE_SECONDS="12")
        job.next("ready", 30)
        time.sleep(1)
        paused = sluice("pause", "probe-vacate", "--vacate", seconds=20)
        time.sleep(0.5)
        resumed = sluice("resume", "probe-vacate", seconds=20)
        right = job.next("right", 30)["right"]
        job.close()
        tell(f"### checkpoint and restore: pause {paused.returncode}, resume {resumed.returncode} {(paused.stderr + resumed.stderr)[:200]}, result "
             f"{verdict(right)}\n```\n" + "\n".join(slices_said(job.log)) + "\n```")
    attempt("checkpoint", checkpoint)


LOWS = [("1 ms", ["loop", 1000]), ("5 ms", ["loop", 5000]), ("50 ms", ["loop", 50000]), ("training", ["train"])]
WAYS = [("plain", None, None, "0"), ("priorities", ["--priority", "high"], ["--priority", "low"], "0"),
        ("priorities and slices", ["--priority", "high"], ["--priority", "low"], "1")]


def quota(options):
    return None if options is None else [*options, "--memory", "30g"]


def measure(name, options, slices):
    job = Job(name, ["bursts", BURSTS, 10, 100, 20], quota(options), slices)
    job.next("ready", 30)
    time.sleep(0.3)
    found = job.ask("begin", "p50", 40)
    job.close()
    return found


def row(low, way, found, rate, alone):
    DATA[f"{low}/{way}"] = dict(found, rate=rate, alone=alone)
    base = DATA.get("alone/alone", found)
    part = f"{100 * rate / alone:.1f} %" if rate else "-"
    tell(f"| {low} | {way} | {found['p50']:.2f} | {found['p90']:.2f} | {found['p99']:.2f} | {found['most']:.2f} | {found['p99'] / base['p99']:.2f} | "
         f"{part} | {verdict(found['right'])} |")


def latency():
    tell("\n## latency\n\nBursts of 10 kernels of 100 us every 20 ms, ms; the last two columns: the other job's speed against alone, and the result.\n\n"
         "| beside | way | p50 | p90 | p99 | most | p99 / alone | other job | result |\n|---|---|---:|---:|---:|---:|---:|---:|---|")
    attempt("alone", lambda: row("alone", "alone", measure("alone", None, "0"), None, None))
    attempt("alone", lambda: row("alone", "quota", measure("alone-quota", ["--priority", "high"], "1"), None, None))
    for low, words in LOWS:
        for way, high, below, slices in WAYS:
            if left() < 25:
                tell(f"| {low} | {way} | no time |")
                continue

            def one():
                name = f"{words[0]}-{words[-1]}-{way.replace(' ', '-')}"
                job = Job(name, words, quota(below), slices)
                job.next("ready", 60)
                job.ask("begin", "began")
                time.sleep(1.5)
                alone = job.ask("end", "rate")["rate"]
                bursts = Job(name + "-bursts", ["bursts", BURSTS, 10, 100, 20], quota(high), slices)
                bursts.next("ready", 30)
                time.sleep(0.3)
                job.ask("begin", "began")
                found = bursts.ask("begin", "p50", 40)
                rate = job.ask("end", "rate")["rate"]
                bursts.close()
                job.process.stdin.close()
                if words[0] == "loop" and job.next("right", 8)["right"] is False:
                    found["right"] = False
                job.close()
                row(low, way, found, rate, alone)
            attempt(f"{low} | {way}", one)


def pause():
    tell("\n## pause during a kernel of 10 s\n")
    for slices in ("1", "0"):
        def one():
            job = Job(f"pause-{slices}", ["long", 10], ["--priority", "normal"], slices, log="debug")
            job.next("ready", 30)
            time.sleep(1)
            asked = time.monotonic()
            paused = sluice("pause", f"pause-{slices}", seconds=25)
            answered = time.monotonic()
            time.sleep(5)
            sluice("resume", f"pause-{slices}", seconds=20)
            gaps = job.next("gaps", 40)["gaps"]
            job.close()
            stopped = [f"still for {end - begin:.3f} s, from {1e3 * (begin - asked):.1f} ms after `sluice pause` was started" for begin, end in gaps]
            tell(f"SLUICE_SLICES={slices}: `sluice pause` took {1e3 * (answered - asked):.0f} ms (status {paused.returncode}); work " + ("; ".join(stopped) or "never stopped"))
            tell("```\n" + "\n".join(slices_said(job.log)) + "\n```")
        attempt(f"pause {slices}", one)


if __name__ == "__main__":
    os.makedirs(OUTPUT, exist_ok=True)
    tell("# Time slices, " + time.strftime("%Y-%m-%d %H:%M"))
    try:
        for part in PARTS:
            {"probe": probe, "latency": latency, "pause": pause}[part]()
    finally:
        for job in list(ALIVE):
            job.process.kill()
    tell(f"\n{max(0, left()):.0f} s left")
