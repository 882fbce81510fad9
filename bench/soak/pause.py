#!/usr/bin/env python3
"""Random faults against pausing: programs that know every byte of their device memory are held, released, vacated and resumed.

    bench/soak/pause.py --seconds 60                   # with the simulated GPU of this checkout
    bench/soak/pause.py --minutes 30 --seed 1000 --jobs 4
    bench/soak/pause.py --seed 1234 --rounds 1 -v      # one round again, with all it does

Each round starts one to four processes of `kept`, one tenant, and has a seed. Meanwhile it asks for all depths, also for another one half
way, kills and stops processes, lets calls of the driver fail, sleep or kill, and takes GPU memory, quota and host memory away while
the memory of the tenant is in the host. The exit status is 0 when every promise was kept in every round, else 1. See README.md.
"""
import argparse
import collections
import concurrent.futures
import glob
import mmap
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import pausing
from pausing import HOLD, RELEASE, RUN, VACATE

MIB = 1 << 20
CONTEXT = 16 * MIB
GPU = 1024 * MIB
NO_ROOM = 8  # step_room
PROMISE, SPARE = 2, 128 * MIB  # seconds for which nobody else takes what was promised; room for siblings that run meanwhile
HUNG = 20  # seconds after which a process that has room and a command hangs
PID = (1 << 22) - 1
MEMORY, EPOCH, RESERVOIR = pausing.LIMITS + 16, pausing.LIMITS, pausing.LIMITS + 672
# Calls that only the movers make, and calls that the program makes too (kept makes those again).
MOVING = """cuMemcpyDtoHAsync_v2 cuMemcpyHtoDAsync_v2 cuStreamCreate cuEventCreate cuEventRecord cuEventSynchronize cuStreamSynchronize
    cuMemHostRegister_v2 cuMemHostUnregister cuEventDestroy_v2 cuStreamDestroy_v2 cuDevicePrimaryCtxGetState cuDevicePrimaryCtxRelease_v2
    cuCheckpointProcessLock cuCheckpointProcessCheckpoint cuCheckpointProcessRestore cuCheckpointProcessUnlock
    cuMemRetainAllocationHandle cuMemGetAccess cuMemGetAllocationPropertiesFromHandle cuMemGetInfo_v2 cuCtxPushCurrent_v2""".split()
SHARED = "cuMemCreate cuMemMap cuMemUnmap cuMemSetAccess cuMemRelease cuMemAddressReserve cuMemAddressFree cuCtxSynchronize".split()
STORING = "cuCheckpointProcessRestore", "cuCheckpointProcessUnlock"  # a failure leaves a process that cannot go on, and says so
HOG = """
import ctypes, sys
cuda, context, address = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0
print("ready", flush=True)
for line in sys.stdin:
    if address.value:
        cuda.cuMemFree_v2(address)
        address.value = 0
    if int(line):
        cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(int(line)))
    print("done", flush=True)
"""


def parts(home):
    """kept, the library and the simulated driver, in a distribution or in a checkout."""
    for kept, library, sim in (("lib/test/kept", "lib/libsluice.so", "lib/sim"),
                               ("native/target/cmake/test/kept", "native/target/cmake/libsluice.so", "sim/target/cmake")):
        if os.path.exists(os.path.join(home, kept)):
            return [os.path.abspath(os.path.join(home, part)) for part in (kept, library, sim)]
    sys.exit(f"there is no kept in {home}; build with: mvn -pl codegen,native,sim package -DskipTests")


def rule(dice):
    """One fault of the driver: its text, and its kind for the table."""
    shared = dice.random() < 0.4
    call = dice.choice(SHARED if shared else MOVING)
    nth = dice.randint(1, 400 if shared else dice.choice((3, 12, 60)))
    kind = dice.choice(("once", "once", "once", "lasting", "sleep", "kill-before", "kill-after"))
    if kind == "lasting":
        when, what = (f"%{dice.randint(3, 30)}" if shared else f"@{nth}+"), dice.choice("1 2 999".split())
    else:
        when, what = f"@{nth}", dice.choice("1 2 999".split()) if kind == "once" else kind
    if kind == "sleep":
        when, what = f"@{nth}" + dice.choice(("", "+")) if not shared else f"@{nth}", f"sleep:{dice.choice((1, 5, 40))}ms"
    return f"{call}{when}={what}", kind


class Process:
    def __init__(self, soak, number, dice):
        self.way = dice.choice(("plain", "plain", "physical"))
        self.threads = dice.choice((1, 1, 2, 3))
        self.rules = [rule(dice) for _ in range(dice.choice((0, 1, 1, 2, 3)))] if soak.rules is None else [(text, "given") for text in soak.rules]
        self.killed = self.stopped_until = 0
        self.seconds = soak.span
        self.log = open(os.path.join(soak.folder, f"log{number}"), "w+")
        environment = dict(soak.environment, SLUICE_SIM_FAULTS=",".join(text for text, _ in self.rules))
        size = dice.choice((65536, 1 * MIB, 5 * MIB))
        self.command = [soak.kept, str(self.seconds), str(self.threads), str(size), str(dice.randrange(1 << 30)), self.way]
        self.began = time.monotonic()
        self.process = subprocess.Popen(self.command, env=environment, stdout=self.log, stderr=subprocess.STDOUT)
        self.pid = self.process.pid

    def lives(self):
        return self.process.poll() is None

    def has(self, *words):
        return any(word in text for text, _ in self.rules for word in words)

    def kills(self):
        return self.killed or self.has("kill-")

    def lasts(self):
        return self.has("+=", "%")

    def stop(self, seconds):
        if self.lives():
            self.process.send_signal(signal.SIGSTOP)
            self.stopped_until = time.monotonic() + seconds

    def go_on(self, now):
        if self.stopped_until and now >= self.stopped_until and self.lives():
            self.process.send_signal(signal.SIGCONT)
            self.stopped_until = 0

    def output(self):
        self.log.flush()
        with open(self.log.name) as file:
            return file.read().strip()

    def threads_now(self):
        """Where its threads are, for the report."""
        told = []
        for task in glob.glob(f"/proc/{self.pid}/task/*"):
            try:
                told.append(open(task + "/comm").read().strip() + ":" + open(task + "/syscall").read().split()[0])
            except (OSError, IndexError):
                pass
        return " ".join(told)


class Gpu:
    """What the simulated driver has for each process; sim/src/gpu/state.h."""

    def __init__(self, path):
        self.file = open(path, "rb")
        self.map = mmap.mmap(self.file.fileno(), 0, prot=mmap.PROT_READ)

    def taken(self):
        used = struct.unpack_from("<I", self.map, 4)[0]
        rows = [struct.unpack_from("<2Q", self.map, 64 + 16 * 40 + row * 136) for row in range(used)]
        return {owner & PID: taken for owner, taken in rows if owner}


class Round:
    def __init__(self, options, seed):
        self.seed, self.verbose, self.rules = seed, options.verbose, options.faults.split(",") if options.faults else None
        self.dice = random.Random(seed)
        self.kept, library, sim = parts(options.home)
        self.folder = tempfile.mkdtemp(prefix="pause-", dir="/dev/shm")
        self.counts, self.refusals, self.broken = collections.Counter(), collections.Counter(), []
        self.span = options.span
        self.mapped = self.dice.random() < 0.85
        self.quota = self.dice.choice((0, 900, 900, 700)) * MIB
        preload = os.path.join(self.folder, "libsluice.so")
        os.symlink(library, preload)
        base = {key: value for key, value in os.environ.items() if not key.startswith(("SLUICE_", "CUDA_", "LD_"))}
        base |= {"SLUICE_SIM_STATE": self.folder + "/gpu", "SLUICE_SIM_MEMORY": str(GPU >> 20) + "m", "LD_LIBRARY_PATH": sim,
                 "SLUICE_SIM_CONTEXT": str(CONTEXT >> 20) + "m", "KEPT_PATIENCE": "60"}
        self.plain = base
        self.environment = base | {"SLUICE_RUNTIME_DIR": self.folder, "SLUICE_TENANT": "job", "LD_PRELOAD": preload, "SLUICE_ON_ERROR": "fail"}
        if self.mapped:
            self.environment["SLUICE_MAPPED"] = "1"
        if self.quota:
            self.environment["SLUICE_MEMORY"] = f"{self.quota >> 20}m"
        more = self.dice.choice(({}, {}, {}, {"SLUICE_COMPUTE": "60%"}, {"SLUICE_WEIGHT": "3"}, {"SLUICE_ON_OOM": "wait:30s"}, {"SLUICE_PREPARE": "64m"}))
        self.environment |= more
        self.shape = f"mapped={int(self.mapped)} quota={self.quota >> 20}m {more or ''}"
        self.processes, self.hog, self.tenant, self.inode = [], None, None, None
        self.looked = self.promised = 0

    def say(self, text):
        if self.verbose:
            print(f"[{self.seed} {time.monotonic() - self.began:7.3f}] {text}", flush=True)

    def fault(self, kind, number=1):
        self.counts["fault " + kind] += number

    def breaks(self, what, process=None):
        text = what
        if process:
            text += f"; pid {process.pid} {' '.join(process.command[1:])} faults {','.join(text for text, _ in process.rules) or '-'} threads [{process.threads_now()}]"
            text += f"; last: {process.output()[-300:]!r}"
        self.broken.append(text)
        self.say("BROKEN " + text)

    def live(self):
        return {process.pid: process for process in self.processes if process.lives()}

    def open(self):
        """The region; another file when all processes had died."""
        path = os.path.join(self.folder, "job.region")
        try:
            inode = os.stat(path).st_ino
            if inode != self.inode and os.stat(path).st_size > pausing.PAUSE:
                self.tenant, self.inode = pausing.Tenant(path), inode
        except (OSError, ValueError):
            pass
        return self.tenant

    def ask(self, depth):
        if self.open():
            self.say("ask " + pausing.WORDS[depth])
            self.tenant.ask(depth, room=False)
            self.counts["ask " + pausing.WORDS[depth]] += 1

    def records(self):
        """The records of live processes with a context, by pid."""
        live, found = self.live(), {}
        for slot in self.tenant.slots() if self.tenant else ():
            owner, calls = (struct.unpack_from("<Q", self.tenant.map, pausing.SLOT + slot * pausing.SLOT_BYTES + at)[0] for at in (0, 24))
            process = live.get(owner & PID)
            record = self.tenant.record(slot) if process and not owner >> 63 else None
            if record and record["attended"] == 1:
                account = struct.unpack_from("<15Q", self.tenant.map, pausing.ACCOUNT + slot * 16 * pausing.ACCOUNT_BYTES)
                found[process.pid] = record | {"process": process, "calls": calls, "charged": account[0], "in_flight": account[1], "aside": account[13]}
        return found

    def wait(self, seconds, final=False):
        """Until all have carried it out or refuse; True: all are done. None: the time is over."""
        until, waits = time.monotonic() + seconds, 0
        while True:
            self.breathe()
            records = self.records().values()
            done = [record["answer"] == self.tenant.command for record in records]
            refused = [record["refused"] == self.tenant.command for record in records]
            if all(a or b for a, b in zip(done, refused)):
                return all(done)
            pending = [record for record, a, b in zip(records, done, refused) if not a and not b]
            waits = waits + 1 if all(record["step"] == NO_ROOM for record in pending) else 0
            if time.monotonic() > until or waits > 100 and not final:
                return None
            time.sleep(0.002)

    def look_for_room(self, now):
        """As a tool does for processes whose state is stored: without this they wait."""
        self.looked = now
        records = [record for record in self.records().values() if record["stored"]]
        if not any(record["step"] == NO_ROOM for record in records) or self.tenant.command & 255 == VACATE:
            return
        need = sum(record["away"] + record["aside"] for record in records)
        if self.free_bytes() >= need + SPARE:
            self.promised = time.monotonic()
            self.tenant.promise()
            self.counts["looks that found room"] += 1
        else:
            self.counts["looks that found none"] += 1

    def breathe(self):
        now = time.monotonic()
        if self.tenant and now > self.looked + 0.01:
            self.look_for_room(now)
        for process in self.processes:
            process.go_on(now)

    def sleep(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.breathe()
            time.sleep(min(0.01, max(0, until - time.monotonic())))

    def write(self, at, value):
        if self.tenant:
            struct.pack_into("<Q", self.tenant.map, at, value)
            epoch = struct.unpack_from("<I", self.tenant.map, EPOCH)[0]
            struct.pack_into("<I", self.tenant.map, EPOCH, epoch + 1 & 0xffffffff)

    def tell_hog(self, number):
        if not self.hog:
            self.hog = subprocess.Popen([sys.executable, "-c", HOG], env=self.plain, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.hog.stdout.readline()
        self.hog.stdin.write(f"{number}\n")
        self.hog.stdin.flush()
        self.hog.stdout.readline()

    def free_bytes(self):
        return GPU - sum(taken for pid, taken in Gpu(self.folder + "/gpu").taken().items() if os.path.exists(f"/proc/{pid}"))

    def disturb(self):
        """A fault that is not the driver's."""
        live, dice = list(self.live().values()), self.dice
        what = dice.choice(("kill", "stop", "stop", "stop", "hog", "quota", "quota", "reservoir", "prepare", "prepare"))
        if what in ("kill", "stop") and live:
            process = dice.choice(live)
            if what == "kill" and dice.random() < 0.5:
                process.killed = 1
                process.process.kill()
            else:
                what = "stop"
                process.stop(dice.uniform(0.005, 0.2))
        elif what == "hog":
            left = self.free_bytes() - CONTEXT
            if left < 16 * MIB or time.monotonic() < self.promised + PROMISE:
                return
            self.tell_hog((left - dice.choice((0, 8, 64)) * MIB) // (2 * MIB) * 2 * MIB if left > 80 * MIB else 4 * MIB)
        elif what == "quota":
            if not self.quota:
                return
            self.write(MEMORY, dice.choice((self.quota, dice.randint(CONTEXT, self.quota), 32 * MIB)))
        elif what == "reservoir":
            self.write(RESERVOIR, dice.choice((0, 2 * MIB, dice.randint(1, 200) * MIB)))
        elif what == "prepare":
            self.write(pausing.PREPARED, dice.choice((0, 2 * MIB, dice.randint(0, 300) * MIB)))
        self.fault(what)
        self.say("disturb " + what)

    def calm(self):
        """All of it is taken back: there is room."""
        for process in self.processes:
            process.go_on(time.monotonic() + 100)
        if self.hog:
            self.tell_hog(0)
        self.write(MEMORY, self.quota)
        self.write(RESERVOIR, 0)

    def judge(self, depth):
        """All live processes are at this depth."""
        began = self.records()
        taken = Gpu(self.folder + "/gpu").taken()
        for pid, record in began.items():
            process, driver = record["process"], taken.get(pid, 0)
            if not process.lives() or record["answer"] != self.tenant.command:
                continue
            if record["charged"] != driver:
                self.breaks(f"{pausing.WORDS[depth]}: the ledger has {record['charged']}, the driver {driver}", process)
            if record["in_flight"]:
                self.breaks(f"{pausing.WORDS[depth]}: {record['in_flight']} bytes are in flight", process)
            stays = process.has("cuMemRetain", "cuMemGetA", "cuMemAddress", "cuMemMap", "cuMemSetAccess", "cuMemRelease", "cuMemUnmap")
            if depth == RELEASE and (self.mapped or process.way == "physical") and not stays and driver > CONTEXT:
                self.breaks(f"released, and the driver has {driver}", process)
            if depth == VACATE and driver and not process.has("cuCheckpointProcessUnlock"):  # restored, and locked for good
                self.breaks(f"vacated, and the driver has {driver}", process)
        self.sleep(self.dice.choice((0.01, 0.06)))
        for pid, record in self.records().items():
            if pid in began and record["calls"] - began[pid]["calls"] > record["process"].threads:
                self.breaks(f"{pausing.WORDS[depth]}: {record['calls'] - began[pid]['calls']} calls went on", record["process"])
        self.counts["judged"] += 1

    def note_refusals(self):
        for record in self.records().values():
            if record["refused"] == self.tenant.command:
                self.refusals[re.sub(r"[0-9.]+ ?([KMG]iB)?|CUDA_[A-Z_]*|an unknown error", "N", record["reason"])[:90]] += 1

    def pause(self):
        dice, depth = self.dice, self.dice.choice((HOLD, RELEASE, RELEASE, VACATE))
        kind = dice.random()
        if kind < 0.2:
            for _ in range(dice.randint(2, 7)):
                self.ask(dice.choice((RUN, HOLD, RELEASE, VACATE)))
                self.sleep(dice.choice((0, 0.0002, 0.001, 0.004)))
            self.counts["changed half way"] += 1
            self.ask(depth)
        else:
            self.ask(depth)
        if dice.random() < 0.25:
            self.sleep(dice.uniform(0, 0.02))  # withdrawn
            self.counts["withdrawn"] += 1
        else:
            while dice.random() < 0.3:
                self.disturb()
            done = self.wait(HUNG)
            if done is None:
                for record in self.records().values():
                    if record["answer"] != self.tenant.command != record["refused"]:
                        waits = record["step"] == NO_ROOM
                        if not waits:
                            self.breaks(f"does not come to {pausing.WORDS[depth]} in {HUNG} s: {record}", record["process"])
                        self.counts["waits for room"] += bool(waits)
            self.note_refusals()
            if done:
                self.counts["done " + pausing.WORDS[depth]] += 1
                self.judge(depth)
            while dice.random() < 0.5:
                self.disturb()
                self.sleep(dice.uniform(0, 0.02))
        if dice.random() < 0.8:
            self.ask(RUN)
            if dice.random() < 0.5:
                self.sleep(dice.uniform(0, 0.05))
            if dice.random() < 0.6:
                self.calm()
            if dice.random() < 0.5 and self.wait(dice.choice((0.02, 0.3, 2))) is False:
                self.note_refusals()

    def finish(self):
        """The last command is run, and there is room: all end, or say why they cannot."""
        self.calm()
        self.write(pausing.PREPARED, 0)
        for attempt in range(6):
            self.ask(RUN)
            began = time.monotonic()
            if not self.tenant:
                break
            done = self.wait(HUNG, final=True)
            if done is None:
                for record in self.records().values():
                    process = record["process"]
                    if record["step"] == NO_ROOM and process.lasts():  # a call answers that there is none, again and again
                        self.counts["lost to the driver"] += 1
                        process.killed = 1
                        process.process.kill()
                    elif record["answer"] != self.tenant.command:
                        self.breaks(f"does not run {HUNG} s after the command: {record}", record["process"])
                break
            self.counts["slowest resume ms"] = max(self.counts["slowest resume ms"], int(1000 * (time.monotonic() - began)))
            if done:
                break
            self.note_refusals()
            self.counts["run asked again"] += 1
        for record in self.records().values() if self.tenant else ():
            process = record["process"]
            if record["refused"] == self.tenant.command and process.lives():
                full = "cannot restore its own state" in record["reason"] and "OUT_OF_MEMORY" in record["reason"]  # while it was vacated
                self.counts["lost: the GPU was full" if full else "lost to the driver"] += 1
                if not process.has(*STORING) and not process.lasts():
                    self.breaks(f"refuses to run {attempt + 1} times: {record['reason']}", process)
                if not record["reason"]:
                    self.breaks("refuses without a reason", process)
                process.killed = 1
                process.process.kill()
        until = max((process.began + process.seconds for process in self.processes), default=0)
        until = max(until, time.monotonic()) + HUNG + 15
        for process in self.processes:
            try:
                process.process.wait(max(1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.breaks("does not end", process)
                process.process.kill()
                process.process.wait()
                continue
            status, last = process.process.returncode, process.output().splitlines()[-1:]
            if status == -9 and process.kills():
                self.counts["killed"] += 1
            elif status or not last or not last[0].startswith("kept "):
                self.breaks(f"ended with status {status}", process)
            else:
                self.counts["kept"] += 1
                self.counts["steps"] += int(last[0].split()[1])

    def judge_end(self):
        """All processes are gone; another one looks, so that the driver has taken the memory of the dead."""
        if not os.path.exists(self.folder + "/gpu"):
            return
        self.tell_hog(GPU - CONTEXT)
        left = {pid: taken for pid, taken in Gpu(self.folder + "/gpu").taken().items() if taken and pid != self.hog.pid}
        if left or self.free_bytes():
            self.breaks(f"left on the GPU: {left}, free {self.free_bytes()}")
        if self.records():
            self.breaks("slots of live processes are left")

    def run(self):
        self.began = time.monotonic()
        dice = self.dice
        number = dice.randint(1, 4)
        try:
            late = dice.random() < 0.3
            for index in range(number):
                if index == number - 1 and late:
                    break
                self.start()
            while not self.open() or not self.records():
                if not self.live() or time.monotonic() > self.began + 20:
                    break
                time.sleep(0.005)
            while time.monotonic() < self.began + self.span and self.live() and len(self.broken) < 3:
                self.sleep(dice.uniform(0, 0.15))
                if late and time.monotonic() > self.began + self.span / 3:
                    late = False
                    self.start()
                if self.open():
                    self.pause()
            self.finish()
            self.judge_end()
        except Exception as problem:  # noqa: BLE001: a round never ends the soak
            import traceback
            self.breaks("the soak itself: " + "".join(traceback.format_exception(problem))[-600:])
        finally:
            for process in self.processes:
                if process.lives():
                    process.process.kill()
                    process.process.wait()
            if self.hog:
                self.hog.kill()
                self.hog.wait()
            if not (self.verbose and self.broken):
                shutil.rmtree(self.folder, ignore_errors=True)
        return self

    def start(self):
        process = Process(self, len(self.processes), self.dice)
        self.processes.append(process)
        self.say(f"start {process.pid} {' '.join(process.command[1:])} faults {','.join(text for text, _ in process.rules) or '-'}; {self.shape}")
        for _, kind in process.rules:
            self.fault("driver " + kind)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="rounds at the same time (2)")
    parser.add_argument("--span", type=float, default=3, help="seconds for which a round disturbs (3)")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 1000000, help="of the first round; the next ones follow")
    parser.add_argument("--faults", default="", help="faults of each process, instead of random ones")
    parser.add_argument("--home", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    parser.add_argument("-v", "--verbose", action="store_true", help="tells all it does, and leaves the folder of a broken round")
    options = parser.parse_args()
    until = time.monotonic() + (options.seconds + options.minutes * 60 or (0 if options.rounds else 60))
    counts, refusals, broken, seed, rounds = collections.Counter(), collections.Counter(), [], options.seed, 0

    def more():
        return rounds + len(waiting) < options.rounds if options.rounds else time.monotonic() < until

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = set()
        while more() or waiting:
            while more() and len(waiting) < options.jobs:
                waiting.add(pool.submit(Round(options, seed).run))
                seed += 1
            done, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for one in (future.result() for future in done):
                rounds += 1
                slowest = max(counts["slowest resume ms"], one.counts.pop("slowest resume ms", 0))
                counts += one.counts
                counts["slowest resume ms"] = slowest
                refusals += one.refusals
                for text in one.broken:
                    print(f"broken: seed {one.seed} ({one.shape}): {text}", flush=True)
                broken += [(one.seed, text) for text in one.broken]
    print(f"\n| what | number |\n|---|---|\n| rounds | {rounds} |")
    for name in sorted(counts):
        print(f"| {name} | {counts[name]} |")
    print(f"| faults, all | {sum(number for name, number in counts.items() if name.startswith('fault '))} |\n| refusals | {sum(refusals.values())} |")
    for reason, number in refusals.most_common(30):
        print(f"| refused: {reason} | {number} |")
    print(f"| broken | {len(broken)} |\n\n{rounds} rounds, {len({one for one, _ in broken})} broken: seeds {sorted({one for one, _ in broken})}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
