"""Shares of two tenants, by the stamps of their kernels: caps and weights below a tenant of high priority, and turns against long slices."""
import os
import statistics
import time

from kit import Job, Late, SIMULATED, spread

SECONDS = 3.0
SETTLING_NS = 700_000_000
PLACES = 40_000
MOST_BOTH = 1  # where kernels of both overlap by more per cent of the time, stamps count some of it twice, and work tells the share
KINDS = {"caps 25 % and 25 %": (["--compute", "25%"], ["--compute", "25%"]), "weights 3 : 1": (["--weight", "3"], ["--weight", "1"])}
# name, kernels of a burst, their length, the pause between two bursts in ms
ABOVE = [("nobody", 0, "1000", 0), ("bursts of 10 × 100 µs every 20 ms", 10, "100", 19), ("bursts of 6 × 1 ms, 30 %", 6, "1000", 14)]


def union(stamps, low, high):
    """Intervals without overlaps, in order, inside a window."""
    found = []
    for begin, end in sorted((max(begin, low), min(end, high)) for begin, end in stamps if end > low and begin < high):
        if found and begin <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return found


def length(intervals):
    return sum(end - begin for begin, end in intervals)


def common(one, other):
    """Length of what lies in both."""
    at, total = 0, 0
    for begin, end in one:
        while at < len(other) and other[at][1] <= begin:
            at += 1
        look = at
        while look < len(other) and other[look][0] < end:
            total += min(end, other[look][1]) - max(begin, other[look][0])
            look += 1
    return total


def kernels(stamps, low, high):
    """How many ran in the window; one at its edge counts in part."""
    return sum(max(0, min(end, high) - max(begin, low)) / (end - begin) for begin, end in stamps if end > begin)


class Shares:
    def __init__(self, run):
        self.run, self.found = run, {}

    def measure(self):
        run = self.run
        plain = Job(run, "shares-reference", ["grind"])
        plain.next("ready", 40)
        self.rounds = plain.ask("rounds", "rounds", "100", "1000")["rounds"]
        alone = plain.ask("times", "bursts", 40, 1, self.rounds["1000"], 5, "stamps", seconds=10)["stamps"]
        self.kernel_ns = statistics.median(end - begin for begin, end in alone)
        plain.close()
        jobs = {}
        for kind, options in KINDS.items():
            for slices in ("1", "0"):
                folder = run.folder()
                names = [f"{kind.split()[0]}-{who}-slices-{slices}" for who in "AB"]
                both = [Job(run, name, ["grind"], ["--priority", "low", *mine], folder, slices) for name, mine in zip(names, options)]
                jobs[kind, slices] = [*both, Job(run, f"{kind.split()[0]}-high-slices-{slices}", ["grind"], ["--priority", "high"], folder, slices)]
        for trio in jobs.values():
            for job in trio:
                job.next("ready", 60)
        for number in range(1, 100):
            for above in ABOVE:
                for key, trio in jobs.items() if number % 2 else reversed(jobs.items()):
                    try:
                        run.need(SECONDS + 5)
                    except Late as late:
                        return run.say(f"shares: {late}")
                    self.one(number, key, trio, above)
            self.show()

    def one(self, number, key, trio, above):
        name, count, of, pause = above
        lows, high = trio[:2], trio[2]
        try:
            for job in lows:
                job.tell("loop", self.rounds["1000"], 8, PLACES)
            for job in lows:
                job.next("started", 20)
            stamps = []
            if count:
                period = pause / 1e3 + count * float(of) / 1e6
                found = high.ask("times", "bursts", int((SECONDS + SETTLING_NS / 1e9) / period), count, self.rounds[of], pause, "stamps", seconds=4 * SECONDS + 20)
                stamps = found["stamps"]
            else:
                time.sleep(SECONDS + SETTLING_NS / 1e9)
            for job in lows:
                job.tell("stop")
            ended = [job.next("stopped", 20) for job in lows]
        except RuntimeError as problem:
            return self.run.say(f"{key}, {name}: {str(problem)[:160]}")
        got = self.evaluate(ended[0]["stamps"], ended[1]["stamps"], stamps)
        got["right"] = False not in [one["right"] for one in ended]
        self.found.setdefault((*key, name), []).append(got)
        self.run.note("shares", round=number, kind=key[0], slices=key[1], above=name, **got)
        self.run.say(f"{key[0]}, slices {key[1]}, {name}: {got['a']:.1f} and {got['b']:.1f} %, by work {got['work_a']:.1f} and {got['work_b']:.1f} %, high {got['high']:.1f} %")

    def evaluate(self, first, second, high):
        low = max(stamps[0][0] for stamps in (first, second)) + SETTLING_NS
        end = min(stamps[-1][1] for stamps in ([first, second, high] if high else [first, second]))
        above, a, b = union(high, low, end), union(first, low, end), union(second, low, end)
        whole = max(1, end - low)
        return {"a": 100 * (length(a) - common(a, above)) / whole, "b": 100 * (length(b) - common(b, above)) / whole, "high": 100 * length(above) / whole,
                "work_a": 100 * kernels(first, low, end) * self.kernel_ns / whole, "work_b": 100 * kernels(second, low, end) * self.kernel_ns / whole,
                "both": 100 * common(a, b) / whole, "seconds": whole / 1e9}

    def show(self):
        lines = ["Two low tenants with 1 ms kernels; by their own stamps, without the time in which the tenant of high priority had a kernel there; by work: kernels × their time "
                 "alone. Per cent of the time, median (least … most) of the runs; both: part in which stamps of both tenants overlap.", "",
                 "| asked | slices | above | runs | first | second | first of both | by work: first | second | high | both | result |", "|---|---|---|---:|---|---|---:|---|---|---:|---:|---|"]
        for (kind, slices, name), runs in sorted(self.found.items(), key=lambda one: (one[0][0], one[0][2], one[0][1])):
            def of(what):
                return spread([one[what] for one in runs], "{:.1f}")
            part = statistics.median(100 * one["a"] / max(1e-9, one["a"] + one["b"]) for one in runs)
            lines.append(f"| {kind} | {'on' if slices == '1' else 'off'} | {name} | {len(runs)} | {of('a')} | {of('b')} | {part:.1f} % | {of('work_a')} | {of('work_b')} | {of('high')} | "
                         f"{of('both')} | {'right' if all(one['right'] for one in runs) else 'WRONG'} |")
        self.run.table("shares", "\n".join(lines))
        off = {"1": [], "0": []}
        for (kind, slices, name), runs in self.found.items():
            if name == "nobody":
                continue
            for one in runs:
                a, b = (one["a"], one["b"]) if one["both"] < MOST_BOTH else (one["work_a"], one["work_b"])
                off[slices] += [abs(a - 25), abs(b - 25)] if kind.startswith("caps") else [abs(100 * a / max(1e-9, a + b) - 75)]
        told = "; ".join(f"slices {'on' if slices == '1' else 'off'}: off by {statistics.median(values):.1f}, at most {max(values):.1f} points" for slices, values in off.items() if values)
        self.run.conclude("caps and weights of low tenants below a high one", "as exact as before", told or "not measured")


def shares(run):
    Shares(run).measure()


PAIRS = [("1 ms and 1 ms", ("1000", 8), ("1000", 8)), ("50 µs and 5 ms", ("50", 128), ("5000", 4))]
TURN_WAYS = ["turns", "slices of 10 ms", "plain"]


def turn_job(run, way, number, folder):
    name = f"{way.replace(' ', '-')}-{number}"
    if way == "turns":
        return Job(run, name, ["grind"], ["--weight", "1"], folder, "0")
    if way == "plain":
        return Job(run, name, ["grind"])
    return Job(run, name, ["grind"], None, folder, "1", preload=run.library("test/librestless.so"), RESTLESS_SLICE="10000", SLUICE_TENANT=name,
               RESTLESS_FILE=restless_file(run, name))


def restless_file(run, name):
    return os.path.join(run.output, "logs", name + ".restless")


def turns(run):
    """Two equal jobs: turns of Sluice, no turns and slices of 10 ms each, and plain sharing with libcuda's slices of 2 ms."""
    folders = {way: run.folder() for way in TURN_WAYS}
    jobs = {way: [turn_job(run, way, number, folders[way]) for number in (1, 2)] for way in TURN_WAYS}
    for pair in jobs.values():
        for job in pair:
            job.next("ready", 60)
    found = {}
    try:
        take_turns(run, jobs, found)
    finally:
        told = []
        for job in jobs[TURN_WAYS[1]]:
            job.close()
            path = restless_file(run, job.name)
            told.append(open(path, encoding="utf-8").read().strip() if os.path.exists(path) else "nothing: it did not end by itself")
        run.note("turns", slices=told)
        show_turns(run, found, told)


def take_turns(run, jobs, found):
    rounds, solo = jobs["plain"][0].ask("rounds", "rounds", "50", "1000", "5000")["rounds"], {}

    def speed(pair, words, seconds):
        for job, word in zip(pair, words):
            job.tell("loop", rounds[word[0]], word[1])
        for job in pair:
            job.next("started", 20)
        time.sleep(0.6)
        for job in pair:
            job.ask("done", "done")
        time.sleep(seconds)
        for job in pair:
            job.tell("done")
        done = [job.next("done", 20)["done"] for job in pair]
        for job in pair:
            job.tell("stop")
        for job in pair:
            job.next("stopped", 20)
        return [(len(one) - 1) / (one[-1] - one[0]) if len(one) > 2 else 0.0 for one in done]

    for number in range(1, 100):
        for word in (("50", 128), ("1000", 8), ("5000", 4)):
            if run.left() < 4:
                return run.say("turns: no time left")
            solo.setdefault(word[0], []).append(speed(jobs["plain"][:1], [word], 0.7)[0])
        for at, (name, *words) in enumerate(PAIRS):
            for way in TURN_WAYS[(number + at) % 3:] + TURN_WAYS[:(number + at) % 3]:
                if run.left() < 5:
                    return run.say("turns: no time left")
                try:
                    speeds = speed(jobs[way], words, 1.0 if SIMULATED else 2.5)
                except RuntimeError as problem:
                    run.say(f"turns: {name}, {way}: {str(problem)[:160]}")
                    continue
                parts = [100 * value / statistics.median(solo[word[0]]) for value, word in zip(speeds, words)]
                found.setdefault((name, way), []).append(parts)
                run.note("turns", round=number, pair=name, way=way, parts=parts, speeds=speeds)
                run.say(f"turns: {name}, {way}: {parts[0]:.1f} + {parts[1]:.1f} %")
        show_turns(run, found, [])


def show_turns(run, found, told):
    lines = ["Speed of two jobs without end beside each other, against the speed of each alone, per cent; median (least … most) of the runs.", "",
             "| kernels | way | runs | first | second | together |", "|---|---|---:|---|---|---|"]
    for (name, way), runs in sorted(found.items()):
        lines.append(f"| {name} | {way} | {len(runs)} | {spread([one[0] for one in runs], '{:.1f}')} | {spread([one[1] for one in runs], '{:.1f}')} | "
                     f"{spread([sum(one) for one in runs], '{:.1f}')} |")
    run.table("turns", "\n".join(lines + [""] + [f"Slices of 10 ms, as set: `{text}`." for text in told]))
    run.conclude("turns or slices of 10 ms", "what is better is kept",
                 "; ".join(f"{name}, {way}: {statistics.median(one[0] for one in runs):.1f} + {statistics.median(one[1] for one in runs):.1f} %" for (name, way), runs in sorted(found.items())))
