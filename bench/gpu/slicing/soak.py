"""Random control calls beside a training, and jobs that are killed and stopped at random. The training must end with the weights of an undisturbed one."""
import ctypes
import os
import random
import signal
import subprocess
import threading
import time

from kit import Job, SIMULATED

CALLS = int(os.environ.get("CALLS", "2000" if SIMULATED else "10000"))
OTHERS = [["--priority", "low"], ["--compute", "40%", "--strict"], ["--weight", "2"]]
XID_EVENTS = 8


class Xids:
    """Critical errors of the driver while it runs: by the kernel's log, and by events of NVML."""

    def __init__(self):
        self.before, self.seen, self.over, self.obstacle = in_log(), [], False, None
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        try:
            nvml = ctypes.CDLL("libnvidia-ml.so.1")
            device, events = ctypes.c_void_p(), ctypes.c_void_p()
            for call, *arguments in (("nvmlInit_v2",), ("nvmlDeviceGetHandleByIndex_v2", 0, ctypes.byref(device)), ("nvmlEventSetCreate", ctypes.byref(events)),
                                     ("nvmlDeviceRegisterEvents", device, ctypes.c_ulonglong(XID_EVENTS), events)):
                status = getattr(nvml, call)(*arguments)
                if status:
                    self.obstacle = f"{call}: error {status}"
                    return
            data = (ctypes.c_ubyte * 64)()  # device, type, data: the Xid
            while not self.over:
                if nvml.nvmlEventSetWait_v2(events, data, 200) == 0:
                    self.seen.append(int.from_bytes(bytes(data[16:24]), "little"))
        except (OSError, AttributeError) as problem:
            self.obstacle = str(problem)[:80]

    def end(self):
        """How many are new, and how that is known; None: not known."""
        self.over = True
        self.thread.join(2)
        after = in_log()
        new = None if self.before is None or after is None else after - self.before
        log = "the kernel's log cannot be read" if new is None else f"{new} in the kernel's log"
        events = f"no events of NVML ({self.obstacle})" if self.obstacle else f"{len(self.seen)} events of NVML{' ' + str(self.seen[:5]) if self.seen else ''}"
        known = [count for count in (new, None if self.obstacle else len(self.seen)) if count is not None]
        return max(known) if known else None, f"{log}, {events}"


def in_log():
    try:
        found = subprocess.run(["dmesg"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.count("Xid") if found.returncode == 0 else None


class Others:
    """Jobs that are killed and started again, stopped and continued; the training is stopped now and then, too."""

    def __init__(self, run, folder, rounds, seed):
        self.run, self.folder, self.rounds, self.dice = run, folder, rounds, random.Random(seed)
        self.killed = self.stopped = 0
        self.jobs = []
        for number in range(len(OTHERS)):
            self.jobs.append(self.start(number))

    def start(self, number):
        job = Job(self.run, f"soak-other-{number}-{self.killed}", ["grind"], OTHERS[number], self.folder)
        job.tell("loop", self.rounds, 4)  # it reads this when it is ready
        return job

    def disturb(self, training):
        number = self.dice.randrange(len(self.jobs))
        job = self.jobs[number]
        kind = self.dice.randrange(8)
        if kind == 0:
            job.kill()
            self.killed += 1
            self.jobs[number] = self.start(number)
        else:
            victim = training if kind == 1 else job
            try:
                victim.process.send_signal(signal.SIGSTOP)
                time.sleep(self.dice.uniform(0.001, 0.15))
            finally:
                victim.process.send_signal(signal.SIGCONT)
            self.stopped += 1
        time.sleep(self.dice.uniform(0.05, 0.3))

    def go_on(self):
        """How many of them work now."""
        works = 0
        for job in self.jobs:
            try:
                job.next("started", 30)
                job.ask("done", "done", seconds=10)
                time.sleep(1.0)
                works += len(job.ask("done", "done", seconds=10)["done"]) > 0
            except RuntimeError as problem:
                self.run.say(str(problem)[:200])
        return works


def so_far(path):
    """What the control calls were when it last told; the training does not begin, or stands still."""
    try:
        with open(path + ".so-far", encoding="utf-8") as told:
            return told.read().strip()
    except OSError:
        return "no control call is known"


def soak(run):
    seed = int(os.environ.get("SEED", "1"))
    calibration = Job(run, "soak-reference", ["grind"])
    calibration.next("ready", 40)
    rounds = calibration.ask("rounds", "rounds", "1000")["rounds"]["1000"]
    calibration.close()
    folder, file = run.folder(), os.path.join(run.work, "restless")
    xids = Xids()
    others = Others(run, folder, rounds, seed)
    began = time.monotonic()
    training = Job(run, "soak-training", ["exact", file, 0, rounds], None, folder, "1", preload=run.library("test/librestless.so"), RESTLESS_CALLS=str(CALLS), RESTLESS_SEED=str(seed), RESTLESS_NAP=os.environ.get("NAP", "3000"),
                   RESTLESS_FILE=file, SLUICE_TENANT="soak-training", SLUICE_WEIGHT="1")
    try:
        ready = training.next("ready", 60)
    except RuntimeError as problem:
        raise RuntimeError(f"{problem}; {so_far(file)}") from None
    if ready.get("missing"):
        run.say(f"PyTorch is absent ({ready['missing']}): kernels of which each changes the result stand for the training")
    while not os.path.exists(file) and training.lives() and run.left() > 45:
        others.disturb(training)
    if not os.path.exists(file):
        with open(file, "w", encoding="utf-8") as late:  # the training ends all the same, and its result is compared
            late.write("the calls did not come to their end in time")
    with open(file, encoding="utf-8") as told:
        made = told.read().strip()
    found = training.next("digest", 60)
    seconds = time.monotonic() - began
    ended = training.close()
    works = others.go_on()
    for job in others.jobs:
        job.kill()
    count, how = xids.end()
    reference = Job(run, "soak-undisturbed", ["exact", "-", found["steps"], rounds])
    same = reference.next("digest", max(20.0, run.left()))["digest"] == found["digest"]
    reference.close()
    run.note("soak", seed=seed, made=made, digest=found["digest"], steps=found["steps"], same=same, ended=ended, works=works, killed=others.killed, stopped=others.stopped, xids=how)
    told = dict(word.split("=", 1) for word in made.split(" obstacle=")[0].split(" ") if "=" in word)
    refused = sum(int(value) for name, value in told.items() if name.endswith("refused"))
    calls = f"{told['calls']} calls in {told['seconds']} s, {refused} refused, obstacle: {made.split(' obstacle=')[1]}" if "calls" in told else made
    weights = "bit-equal" if same else "DIFFERENT"
    what = "stand-in for a training" if ready.get("missing") else "training"
    run.table("soak", f"Seed {seed}, {seconds:.1f} s; the {what} made {found['steps']} steps and ended {'by itself' if ended else 'NOT by itself'}; its result against the same steps undisturbed, "
                      f"without the library: **{weights}** ({found['digest']}).\n\nControl calls: `{made}`.\n\nThree other jobs: {others.killed} times killed, {others.stopped} times one of all four "
                      f"stopped for up to 150 ms; at the end {works} of {len(others.jobs)} work. Xids: {how}.")
    run.conclude(f"{CALLS:,} random control calls beside a training", "weights bit-equal, nobody stays stopped, no Xid",
                 f"{weights}; {works} of {len(others.jobs)} other jobs go on; Xids: {'not known' if count is None else count} ({how}); {calls}")
