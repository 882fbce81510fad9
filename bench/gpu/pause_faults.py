#!/usr/bin/env python3
"""Random faults against pausing on a real GPU: programs that know every byte of their device memory are held, released, vacated and resumed.

    bench/gpu/pause_faults.py HOME OUT [SECONDS [SEED]]     (SECONDS=120)

Each round starts one to three processes of `kept`, one tenant, several rounds at a time. A fault is one of: a process is killed, stopped for a
moment, another depth is asked for before the one before is reached, the GPU's memory is taken while the tenant's is away, the quota is
lowered while it is away. A process that was not killed must end with status 0: it compares every byte. A refusal is counted and told;
the tenant must still come back. Rounds that vacate come first, rounds in which the GPU's memory is taken follow: the driver cannot repeat a
restore that finds no room (docs/pause.md). The table is the last thing that is printed; the exit status is 1 when a promise was broken.
"""
import collections
import concurrent.futures
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "soak"))
import pausing  # noqa: E402

HOME, OUT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SECONDS = float(sys.argv[3]) if len(sys.argv) > 3 else 120
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
ROUND_SECONDS, AT_A_TIME, PATIENCE = 12, 4, 20
MEMORY = pausing.LIMITS + 16  # limits.memory_bytes[0], see spec/region.abi
counts, broken, lock = collections.Counter(), [], threading.Lock()
taking = threading.Lock()  # one at a time takes the GPU's memory
TAKER = """import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
context, free, total, address = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_uint64()
status = cuda.cuInit(0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) or cuda.cuCtxSetCurrent(context) or cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
status = status or cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(max(1 << 20, free.value - (600 << 20))))
print("taken" if status == 0 else f"error {status}", flush=True)
sys.stdin.read()
"""


def count(what, number=1):
    with lock:
        counts[what] += number


class Round:
    def __init__(self, seed, vacates):
        self.vacates = vacates
        self.seed, self.dice, self.folder = seed, random.Random(seed), tempfile.mkdtemp(prefix="faults-", dir="/dev/shm")
        self.jobs, self.killed, self.tenant = [], set(), None

    def wrong(self, text):
        with lock:
            broken.append(f"seed {self.seed}: {text}")

    def depths(self):
        return (pausing.HOLD, pausing.RELEASE, pausing.VACATE) if self.vacates else (pausing.HOLD, pausing.RELEASE)

    def start(self):
        with taking:  # a context needs room
            self.start_jobs()

    def start_jobs(self):
        for number in range(self.dice.choice((1, 2, 2, 3))):
            way = self.dice.choice(("plain", "plain", "physical"))
            environment = dict(os.environ, SLUICE_RUNTIME_DIR=self.folder, SLUICE_TENANT="faults", SLUICE_MEMORY="20g", SLUICE_MAPPED="1", SLUICE_ON_ERROR="fail",
                               LD_PRELOAD=os.path.join(HOME, "lib/libsluice.so"), KEPT_PATIENCE=str(PATIENCE))
            log = open(os.path.join(OUT, f"faults-{self.seed}-{number}.log"), "w+")
            size = self.dice.choice((1 << 20, 3000000, 64 << 20, 200 << 20))
            command = [os.path.join(HOME, "lib/test/kept"), str(ROUND_SECONDS), str(self.dice.choice((1, 2, 4))), str(size), str(self.dice.randrange(1 << 30)), way]
            self.jobs.append((subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT), log))
        self.tenant = pausing.find(self.folder, 30)

    def lives(self):
        return [process for process, _ in self.jobs if process.poll() is None and process.pid not in self.killed]

    def go(self, depth, seconds=30.0):
        """True: all have done it."""
        self.tenant.ask(depth)
        try:
            self.tenant.wait(seconds)
            return True
        except RuntimeError as refusal:
            count("refused: " + str(refusal)[9:80])
        except TimeoutError as late:
            if self.lives():
                count("waited in vain")
                self.late = str(late)
        return False

    def kill(self):
        process = self.dice.choice(self.lives())
        self.killed.add(process.pid)
        process.kill()
        process.wait()
        count("fault: killed")

    def stop(self):
        process = self.dice.choice(self.lives())
        process.send_signal(signal.SIGSTOP)
        time.sleep(self.dice.random() * 0.3)
        process.send_signal(signal.SIGCONT)
        count("fault: stopped")

    def change_mind(self):
        self.tenant.ask(self.dice.choice((*self.depths(), pausing.RUN)))
        time.sleep(self.dice.choice((0, 0.0005, 0.005, 0.05)))
        count("fault: another depth half way")

    def lower_quota(self):
        if not self.go(pausing.RELEASE):
            return
        quota = struct.unpack_from("<Q", self.tenant.map, MEMORY)[0]
        struct.pack_into("<Q", self.tenant.map, MEMORY, 300 << 20)
        count("fault: quota lowered while away")
        self.tenant.ask(pausing.RUN)
        time.sleep(0.3)
        struct.pack_into("<Q", self.tenant.map, MEMORY, quota)

    def take_gpu(self):
        if not self.go(pausing.RELEASE) or not taking.acquire(timeout=5):
            return
        try:
            taker = subprocess.Popen([sys.executable, "-c", TAKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            count("fault: GPU memory taken while away" if taker.stdout.readline().strip() == "taken" else "GPU memory could not be taken")
            self.tenant.ask(pausing.RUN)
            time.sleep(0.5)
            taker.stdin.close()
            taker.wait(20)
        finally:
            taking.release()

    def disturb(self):
        until = time.monotonic() + ROUND_SECONDS - 3
        while time.monotonic() < until and self.lives():
            time.sleep(self.dice.random() * 0.2)
            self.tenant.ask(self.dice.choice((*self.depths(), pausing.RELEASE)))
            time.sleep(self.dice.choice((0, 0.001, 0.01, 0.1, 0.5)))
            kinds = [self.stop, self.stop, self.change_mind, self.change_mind, self.change_mind, self.lower_quota, *([] if self.vacates else [self.take_gpu, self.take_gpu])]
            self.dice.choice(kinds + ([self.kill] if len(self.lives()) > 1 or self.dice.random() < 0.2 else []))()
            if self.lives():
                self.go(pausing.RUN, PATIENCE) or self.come_back()
                count("resumed")

    def come_back(self):
        """Refused or late: asked again, as a user would."""
        for _ in range(3):
            time.sleep(0.3)
            if not self.lives() or self.go(pausing.RUN, PATIENCE):
                return
        self.wrong(f"does not come back: {[record['reason'] for record in self.tenant.records()]} {getattr(self, 'late', '')[:300]}")

    def run(self):
        try:
            self.start()
            self.disturb()
            for process, log in self.jobs:
                try:
                    status = process.wait(ROUND_SECONDS + PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()
                    status = "never ends"
                log.seek(0)
                last = log.read().strip().splitlines()[-1:]
                if process.pid in self.killed:
                    continue
                if status != 0 or not last or not last[0].startswith("kept "):
                    self.wrong(f"status {status}, {last}")
                else:
                    count("processes that kept every byte")
        except Exception as problem:  # noqa: BLE001: told in the table
            self.wrong(f"{type(problem).__name__} {problem}"[:400])
        finally:
            for process, _ in self.jobs:
                process.kill()
            shutil.rmtree(self.folder, ignore_errors=True)


def rounds(vacates, seconds, seed):
    """Several at a time; returns the next seed."""
    until = time.monotonic() + seconds
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        waiting = set()
        while waiting or time.monotonic() < until:
            while time.monotonic() < until and len(waiting) < AT_A_TIME:
                waiting.add(pool.submit(Round(seed, vacates).run))
                seed += 1
            _, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
    return seed


def main():
    os.makedirs(OUT, exist_ok=True)
    seed = SEED
    for vacates in (True, False):
        seed = rounds(vacates, SECONDS / 2, seed)
    print("| what | number |\n|---|---|")
    print(f"| rounds | {seed - SEED} |\n| faults, all | {sum(number for what, number in counts.items() if what.startswith('fault'))} |")
    for what in sorted(counts):
        print(f"| {what} | {counts[what]} |")
    print(f"| broken | {len(broken)} |")
    for text in broken:
        print("broken:", text)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
