"""Bursts of high priority beside tenants that always have work: three shapes of bursts, seven choices of tenants, four ways to share the GPU.

WAYS chooses ways, and BESIDE those that are measured beside tenants: without the library the bursts are measured alone in any case.

Each way has processes of its own that live through the whole part: one for all bursts, four that run kernels or graphs, and one that trains. Who is not
asked to work has nothing on the GPU. So each way is measured in turn, a few seconds after the other, without a start in between.
"""
import json
import os
import statistics
import time

from kit import Job, Late, Mps, SIMULATED, quantile, spread
import picture

BURSTS = int(os.environ.get("BURSTS", "20" if SIMULATED else "110"))
EVERY = 20
TARGET, KEPT = 1.20, 0.95
WAYS = ["slices", "plain", "MPS", "priorities"]
AGAIN = 2  # so many of the ways are measured in each further round; all of them in every third
TEXTS = {"slices": "priorities with slices", "plain": "plain sharing", "MPS": "MPS", "priorities": "priorities without slices"}
# name, tenants, milliseconds of a piece, the job's words by the lengths of kernels
LOWS = [("1 ms kernels", 1, 1, lambda rounds: ["loop", rounds["1000"], 8]), ("50 ms kernels", 1, 50, lambda rounds: ["loop", rounds["50000"], 4]),
        ("training", 0, 90, lambda rounds: ["train"]), ("two tenants, 5 ms", 2, 5, lambda rounds: ["loop", rounds["5000"], 4]),
        ("graphs of 100 × 50 µs", 1, 5, lambda rounds: ["graph", rounds["50"], 100]), ("5 ms kernels", 1, 5, lambda rounds: ["loop", rounds["5000"], 4]),
        ("four tenants, 1 ms", 4, 1, lambda rounds: ["loop", rounds["1000"], 8])]
LENGTHS = ["50", "100", "1000", "2000", "5000", "50000"]
SHAPES = ["10 × 100 µs", "1 × 2 ms", "model of 3 ms"]


class Cast:
    """The processes of one way."""

    def __init__(self, run, way, mps):
        self.run, self.way, self.mps, self.folder = run, way, mps, run.folder()
        self.jobs = {}

    def start(self, role):
        name, high = f"{self.way.lower()}-{role}", role == "bursts"
        options = ["--priority", "high" if high else "low"] if self.way in ("slices", "priorities") else None
        more = self.mps.settings(CUDA_MPS_CLIENT_PRIORITY="0" if high else "1") if self.way == "MPS" else {}
        words = ["grind"] if role.startswith("low") else ["torch"]
        self.jobs[role] = Job(self.run, name, words, options, self.folder, "1" if self.way == "slices" else "0", **more)

    def job(self, role):
        """Started again when it has ended."""
        if role not in self.jobs or not self.jobs[role].lives():
            self.start(role)
            self.jobs[role].next("ready", 60)
        return self.jobs[role]

    def begin(self, roles):
        for role in roles:
            self.start(role)

    def ready(self, seconds):
        told = [job.next("ready", seconds) for job in self.jobs.values()]
        return next((one["missing"] for one in told if one.get("missing")), None)

    def lows(self, count):
        return [self.job(f"low{i}") for i in range(count)] if count else [self.job("training")]

    def close(self):
        for job in self.jobs.values():
            job.kill()
        self.jobs = {}


ROLES = ["bursts", "training", "low0", "low1", "low2", "low3"]


class Latency:
    def __init__(self, run):
        self.run, self.mps = run, Mps(run)
        self.found, self.alone, self.kept = {}, {}, {}
        self.notes, self.first = [], 1
        if os.environ.get("EARLIER"):
            self.read(os.environ["EARLIER"])

    def read(self, path):
        """The runs of an earlier run of the script: this one adds its own."""
        with open(path, encoding="utf-8") as file:
            for one in map(json.loads, file):
                if one["part"] != "latency" or "times" not in one:
                    continue
                self.first = max(self.first, one["round"] + 1)
                if one["beside"] == "nobody":
                    self.alone.setdefault((one["shape"], one["way"]), []).append(one["times"])
                else:
                    key = (one["beside"], one["shape"], one["way"])
                    self.found.setdefault(key, []).append(one["times"])
                    self.kept.setdefault(key, []).extend([one["kept"]] if one["kept"] else [])

    def measure(self):
        run = self.run
        self.casts = {way: Cast(run, way, self.mps) for way in ("plain", "slices", "priorities")}
        plain = self.casts["plain"]
        plain.begin(["bursts"])
        missing = plain.ready(90)
        if missing:
            self.notes.append(f"PyTorch is absent ({missing}): kernels of 100 µs stand for the model, kernels of 0.3 to 1.4 ms for the training.")
            run.say(self.notes[-1])
        bursts = plain.job("bursts")
        self.rounds = bursts.ask("rounds", "rounds", *LENGTHS, seconds=30)["rounds"]
        self.layers = bursts.ask("layers", "layers", 3000)["layers"]
        run.note("latency", rounds=self.rounds, layers=self.layers)
        if self.mps.begin():
            self.casts["MPS"] = Cast(run, "MPS", self.mps)
        else:
            self.notes.append(f"No rows with MPS: {self.mps.obstacle}.")
            run.say(self.notes[-1])
        if os.environ.get("WAYS"):
            self.casts = {way: cast for way, cast in self.casts.items() if way in os.environ["WAYS"].split(",") or way == "plain"}
        for way, cast in self.casts.items():
            cast.begin(role for role in ROLES if role not in cast.jobs)
        for way, cast in list(self.casts.items()):
            try:
                for role in ROLES:
                    if way != "plain" or role != "bursts":
                        cast.jobs[role].next("ready", 90)
            except RuntimeError as problem:
                self.notes.append(f"No rows with {way}: {problem}.")
                run.say(self.notes[-1])
                self.casts.pop(way).close()
        if "MPS" in self.casts:
            run.note("latency", mps_servers=self.mps.servers())
        run.say("all processes are ready")
        try:
            self.rounds_of_everything()
        finally:
            for cast in self.casts.values():
                cast.close()
            self.mps.stop()

    def rounds_of_everything(self):
        for number in range(self.first, 100):
            ways = [way for way in WAYS if way in self.casts]
            ways = ways if number % 3 == 1 else ways[:AGAIN]
            ways = [way for way in ways if way in os.environ.get("BESIDE", way).split(",")]
            for at, (low, count, millis, words) in enumerate(LOWS):
                shift = (number + at) % max(1, len(ways))
                for way in ways[shift:] + ways[:shift]:
                    try:
                        self.run.need(3.5 * BURSTS * EVERY / 1e3 + 3)
                    except Late as late:
                        return self.run.say(f"latency: {late}")
                    self.attempt(number, low, count, millis, words, way)
                if at == 0:
                    self.alone_again(number)

    def alone_again(self, number):
        for shape in SHAPES:
            for way, name in (("plain", "no library"), ("slices", "high, slices")):
                if way not in self.casts:
                    continue
                try:
                    found = self.burst(self.casts[way], shape)
                except RuntimeError as problem:
                    self.run.say(f"alone, {shape}: {problem}")
                    continue
                self.alone.setdefault((shape, name), []).append(found["times"])
                self.run.note("latency", round=number, beside="nobody", way=name, shape=shape, **found)
        self.show()

    def burst(self, cast, shape):
        job, seconds = cast.job("bursts"), BURSTS * EVERY / 1e3 * 3 + 10
        if shape == SHAPES[0]:
            return job.ask("times", "bursts", BURSTS, 10, self.rounds["100"], EVERY, seconds=seconds)
        if shape == SHAPES[1]:
            return job.ask("times", "bursts", BURSTS, 1, self.rounds["2000"], EVERY, seconds=seconds)
        return job.ask("times", "model", BURSTS, self.layers, EVERY, seconds=seconds)

    def attempt(self, number, low, count, millis, words, way):
        cast = self.casts[way]
        try:
            self.beside(number, low, count, millis, words, way, cast)
        except RuntimeError as problem:
            self.run.say(f"{low}, {way}: {str(problem)[:200]}")
            self.run.note("latency", round=number, beside=low, way=way, problem=str(problem))
            cast.close()  # the next ones get fresh processes

    def beside(self, number, low, count, millis, words, way, cast):
        lows = cast.lows(count)
        for job in lows:
            job.tell(*words(self.rounds))
        for job in lows:
            job.next("started", 40)
        self.pieces(lows, 0.3)
        without, _ = self.pieces(lows, max(1.0, 0.02 * millis))
        for shape in SHAPES:
            found = self.burst(cast, shape)
            _, done = self.pieces(lows, 0)
            inside = [at for at in done if found["began"] <= at <= found["ended"]]
            used = len(found["times"]) * self.busy(shape) / (found["ended"] - found["began"])
            kept = rate(inside) / without / (1 - used) if without and len(inside) > 2 else None
            key = (low, shape, way)
            self.found.setdefault(key, []).append(found["times"])
            self.kept.setdefault(key, []).extend([kept] if kept else [])
            self.run.note("latency", round=number, beside=low, way=way, shape=shape, kept=kept, without=without, others=rate(inside), used=used, **found)
            if found["right"] is False:
                self.notes.append(f"WRONG result of the bursts: {key}")
        right = []
        for job in lows:
            job.tell("stop")
            right.append(job.next("stopped", 30)["right"])
        if False in right:
            self.notes.append(f"WRONG result of a tenant: {low}, {way}")
        self.run.say(f"{low}, {way}, round {number}: p99 " + ", ".join(f"{quantile(self.found[low, shape, way][-1], 0.99):.2f}" for shape in SHAPES))
        self.show()

    def pieces(self, lows, seconds):
        """Pieces in a second, of all tenants together, and when each was done; since the last question, after these seconds."""
        time.sleep(seconds)
        done = []
        for job in lows:
            job.tell("done")
        for job in lows:
            done += job.next("done", 20)["done"]
        return rate(sorted(done)), sorted(done)

    def busy(self, shape):
        """Seconds that a burst keeps the GPU busy."""
        known = {SHAPES[0]: 0.001, SHAPES[1]: 0.002}.get(shape)
        alone = [value for times in self.alone.get((shape, "no library"), []) for value in times]
        return known or (statistics.median(alone) / 1e3 if alone else 0.003)

    def factor(self, key):
        alone = [quantile(times, 0.99) for times in self.alone.get((key[1], "no library"), [])]
        return [quantile(times, 0.99) / statistics.median(alone) for times in self.found[key]] if alone else []

    def show(self):
        lines = [f"Bursts every {EVERY} ms, {BURSTS} in a run; ms; the median of the runs, and the least and the greatest. p99 / alone: against the same bursts alone without "
                 "the library. Kept: speed of the other tenants together against their speed without bursts, of what the bursts leave.", "",
                 "| beside | bursts | way | runs | p50 | p90 | p99 | most | p99 / alone | others kept |", "|---|---|---|---:|---:|---:|---:|---:|---:|---:|"]
        for (shape, way), runs in self.alone.items():
            lines.append(f"| nobody | {shape} | {way} | {len(runs)} | {cells(runs)} | | |")
        for low, *_ in LOWS:
            for shape in SHAPES:
                for way in WAYS:
                    runs = self.found.get((low, shape, way))
                    if runs:
                        key = (low, shape, way)
                        kept = spread([100 * part for part in self.kept[key]], "{:.1f}")
                        lines.append(f"| {low} | {shape} | {TEXTS[way]} | {len(runs)} | {cells(runs)} | {spread(self.factor(key))} | {kept} % |")
        self.run.table("latency", "\n".join(lines + [""] + self.notes))
        factors = {key: self.factor(key) for key in self.found}
        rows = [(f"{low}, {shape}", {TEXTS[way]: factors[low, shape, way] for way in WAYS if factors.get((low, shape, way))}) for low, *_ in LOWS for shape in SHAPES]
        self.run.picture("latency", picture.dots("p99 of bursts / alone without the library", [row for row in rows if row[1]], TARGET))
        self.judge(factors)

    def judge(self, factors):
        for way in WAYS:
            mine = {key: statistics.median(values) for key, values in factors.items() if key[2] == way and values}
            if not mine:
                continue
            worst = max(mine, key=mine.get)
            kept = {key: statistics.median(self.kept[key]) for key in mine if self.kept[key]}
            least = min(kept, key=kept.get) if kept else None
            self.run.conclude(f"latency: {TEXTS[way]}", f"p99 ≤ {TARGET:.2f} × alone, others ≥ {100 * KEPT:.0f} %" if way == "slices" else "-",
                              f"{sum(value <= TARGET for value in mine.values())} of {len(mine)} rows within; worst {mine[worst]:.2f} ({worst[1]} beside {worst[0]})"
                              + (f"; others least {100 * kept[least]:.1f} % ({least[1]} beside {least[0]}), {sum(value >= KEPT for value in kept.values())} of {len(kept)} within" if least else ""))


def rate(done):
    return (len(done) - 1) / (done[-1] - done[0]) if len(done) > 2 and done[-1] > done[0] else 0.0


def cells(runs):
    return " | ".join([spread([quantile(times, part) for times in runs]) for part in (0.5, 0.9, 0.99)] + [f"{max(max(times) for times in runs):.2f}"])


def latency(run):
    Latency(run).measure()
