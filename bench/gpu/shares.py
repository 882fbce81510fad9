"""PyTorch, JAX and CuPy under shares of the GPU's time, with CUPTI's record of every kernel, in the same process, as the witness.

usage: shares.py OUTPUT SLUICE REPEATS SECONDS LIMIT PART...    parts: matmul train profiler jax cupy priority

One process without Sluice for all cases, and one in it for each case (sharing.py), whose cap `sluice set` changes between measurements: frameworks
take long to start, and a cap holds from the next call on. They work one after the other for SECONDS each, REPEATS times, in another order
of caps each time. Beside the busy time stands the rate of steps against the one without Sluice, which misleads by as much as the GPU runs
faster while it is cool.
Writes OUTPUT/shares.csv and OUTPUT/shares.md after each measurement. Begins nothing after LIMIT seconds.
"""
import itertools
import os
import statistics
import sys
import time

import servers
import sharing

CAPS = (10, 25, 50, 75)
SECOND_NS = 1_000_000_000


class Results:
    """Every value, and the table of what there is so far."""

    def __init__(self, output):
        self.output = output
        self.csv = open(os.path.join(output, "shares.csv"), "w")
        print("row,repeat,quantity,value", file=self.csv, flush=True)
        self.values = {}
        self.errors = {}

    def add(self, row, repeat, answer, **more):
        if "error" in answer:
            self.errors[row] = answer["error"]
            return
        for quantity, value in {**answer, **more}.items():
            for one in value if isinstance(value, list) else [value]:
                print(f'"{row}",{repeat},{quantity},{one}', file=self.csv, flush=True)
                if quantity != "tenths":
                    self.values.setdefault(row, {}).setdefault(quantity, []).append(one)

    def of(self, row, quantity):
        return self.values.get(row, {}).get(quantity, [])

    def median(self, row, quantity):
        found = self.of(row, quantity)
        return statistics.median(found) if found else None

    def save(self, rows):
        lines = ["| | cap | alone | got | seconds | of the allowed | steps/s of alone | repeats | |", "|---|---:|---:|---:|---:|---:|---:|---:|---|"]
        bursts = ["| | high alone, p99 | high, p99 | low, of what is left | repeats | target | |", "|---|---:|---:|---:|---:|---|---|"]
        for row, alone, cap in rows:
            (bursts if cap is None else lines).append(self.burst_line(row) if cap is None else self.cap_line(row, alone, cap))
        text = "\n".join(lines + ([""] + bursts if len(bursts) > 2 else [])) + "\n"
        with open(os.path.join(self.output, "shares.md"), "w") as file:
            file.write(text)
        return text

    def why(self, row):
        return ("failed: " + self.errors[row]) if row in self.errors else "not run"

    def cap_line(self, row, alone, cap):
        shares, windows, rates = self.of(row, "share"), self.of(row, "windows"), self.of(row, "rate")
        without, rate = self.median(alone, "share"), self.median(alone, "rate")
        part = f"{100 * statistics.median(rates) / rate:.1f} %" if rates and rate else "-"
        if not shares:
            return f"| {row} | {cap} % | - | {self.why(row)} | - | - | {part} | {len(rates)} | {'no witness' if rates else 'missed'} |"
        allowed = min(cap, without) if without is not None else cap
        windows = windows or shares
        met = (max(shares) <= cap + 1 and min(shares) >= max(allowed - 1, 0.97 * allowed)
               and max(windows) <= cap + 2 and min(windows) >= allowed - 2 and row not in self.errors)
        return (f"| {row} | {cap} % | {'-' if without is None else f'{without:.1f} %'} | {spread(shares)} | {min(windows):.1f} … {max(windows):.1f} "
                f"| {100 * min(shares) / allowed:.1f} % | {part} | {len(shares)} | {'met' if met else 'missed'} |")

    def burst_line(self, row):
        alone, high, left = (self.of(row, name) for name in ("alone_p99", "p99", "of_left"))
        if not high or not alone or not left:
            return f"| {row} | - | {self.why(row)} | - | 0 | - | missed |"
        most = 1.15 * statistics.median(alone) + 1
        met = statistics.median(high) <= most and statistics.median(left) >= 90
        return (f"| {row} | {spread(alone, ' ms', 2)} | {spread(high, ' ms', 2)} | {spread(left)} | {len(high)} "
                f"| ≤ {most:.2f} ms, ≥ 90 % | {'met' if met else 'missed'} |")


def rate_within(done_ns, from_ns, to_ns):
    """Groups of steps per second, between the first and the last that were done within."""
    inside = [at for at in done_ns if from_ns <= at <= to_ns]
    return (len(inside) - 1) / (inside[-1] - inside[0]) * SECOND_NS


def spread(values, unit=" %", digits=1):
    return f"{statistics.median(values):.{digits}f}{unit} ({min(values):.{digits}f} … {max(values):.{digits}f})"


class Run:
    def __init__(self, output, sluice, repeats, seconds, limit, parts):
        self.output, self.sluice, self.repeats, self.seconds, self.parts = output, sluice, repeats, seconds, parts
        self.until = time.monotonic() + limit
        self.results = Results(output)
        self.servers = {}
        self.rows = []

    def server(self, cases, *options):
        name = f"{cases.replace(',', '-')}-{'-'.join(word.strip('-%') for word in options) or 'none'}"
        if name not in self.servers:
            self.servers[name] = servers.Server(self.output, self.sluice, name, list(options), sharing.__file__, cases)
        return self.servers[name]

    def has_time(self, seconds):
        return time.monotonic() + seconds < self.until

    def job(self, row, repeat, server, limits, case, verb):
        def take(answer):
            self.results.add(row, repeat, answer)
            self.results.save(self.rows)
            self.say(row, repeat, answer)

        return server, limits, (verb, case, self.seconds), take

    def say(self, row, repeat, answer):
        told = answer.get("error") or " ".join(f"{key}={answer[key]:.2f}" for key in ("share", "rate", "p99", "of_left") if key in answer)
        print(f"{row}, repeat {repeat}: {told}", flush=True)

    def capped(self, case, caps, alone, verb="witness"):
        """What makes one repeat's jobs: alone, then under each cap."""
        server = self.server(case, "--compute", "99%")
        label = case if verb == "witness" else f"{case}, {verb}"
        for cap in caps:
            self.rows.append((f"{label} under {cap} %", f"{case} alone", cap))

        def jobs(repeat):
            order = caps[repeat % len(caps):] + caps[:repeat % len(caps)]
            first = [(f"{case} alone", alone, ())] if verb == "witness" and self.is_needed(f"{case} alone", repeat) else []
            work = first + [(f"{label} under {cap} %", server, ("--compute", f"{cap}%")) for cap in order]
            return [self.job(row, repeat, who, limits, case, verb) for row, who, limits in work]

        return jobs

    def is_needed(self, row, repeat):
        """What keeps the GPU busy all the time when it is alone does so every time."""
        return repeat <= 2 or not row.endswith(" alone") or (self.results.median(row, "share") or 0) < 95

    def priority(self):
        """What the low one gets is told by its steps, and in the first two repeats also by CUPTI, which makes its host slower."""
        bare = self.server("bursts,train-large")
        high, low = self.server("bursts", "--priority", "high"), self.server("train-large", "--priority", "low")
        plain, profiled = "bursts against train-large", "bursts against train-large, profiled"
        self.rows += [(plain, None, None), (profiled, None, None)]
        share, alone_rates = [], []

        def measure(row, repeat, verb, part):
            if not self.has_time(2 * self.seconds + 4):
                return
            alone = bare.ask("bursts", self.seconds)
            low.tell(verb, "train-large", self.seconds + 2.5)
            time.sleep(1.5)
            burst = high.ask("bursts", self.seconds)
            seen = low.answer()
            seen = low.answer() if "worked" in seen else seen
            for answer in (alone, seen):
                if "error" in answer:
                    burst = answer
            if "error" not in burst:
                low_share = part(seen, burst["began_ns"] + SECOND_NS // 2, burst["ended_ns"] - SECOND_NS // 10)
                burst.update(alone_p99=alone["p99"], high_share=share[0], low_share=low_share, of_left=100 * low_share / (100 - share[0]))
            self.results.add(row, repeat, burst)
            self.results.save(self.rows)
            self.say(row, repeat, burst)

        def by_cupti(seen, from_ns, to_ns):
            tenth = SECOND_NS // 10
            return statistics.mean(one for at, one in enumerate(seen["tenths"]) if from_ns <= seen["began_ns"] + at * tenth <= to_ns)

        def by_steps(seen, from_ns, to_ns):
            return 100 * rate_within(seen["done_ns"], from_ns, to_ns) / statistics.median(alone_rates)

        def repeat_once(repeat):
            if not share:
                high.ask("calibrate")
                share.append(bare.ask("calibrate").get("share", 10))
                high.ask("calibrate")
            if repeat <= 2:
                done = bare.ask("pace", "train-large", 2).get("done_ns", [])
                alone_rates.append(rate_within(done, done[0], done[-1]))
            measure(plain, repeat, "pace", by_steps)
            if repeat <= 2:
                measure(profiled, repeat, "witness", by_cupti)

        return repeat_once

    def go(self):
        capped, others = [], []
        torch_alone = ",".join(part for part in self.parts if part in ("matmul", "train"))
        for part in self.parts:
            if part in ("matmul", "train"):
                capped.append(self.capped(part, CAPS, self.server(torch_alone)))
            elif part == "profiler":
                capped.append(self.capped("matmul", (25,), None, "thorough"))
            elif part in ("jax", "cupy"):
                capped.append(self.capped(part, (25,), self.server(part)))
            elif part == "priority":
                others.append(self.priority())
            else:
                sys.exit(f"unknown part {part}")
        try:
            servers.start(list(self.servers.values()))
            for repeat in range(1, self.repeats + 1):
                servers.work_through(in_turns([jobs(repeat) for jobs in capped]), lambda: self.has_time(self.seconds + 1))
                for one in others:
                    one(repeat)
        finally:
            for server in self.servers.values():
                server.close()
            print("\n" + self.results.save(self.rows), flush=True)


def in_turns(lists):
    """One of each, then the next of each, so that neighbours are of different processes."""
    return [one for turn in itertools.zip_longest(*lists) for one in turn if one is not None]


if __name__ == "__main__":
    if len(sys.argv) < 7:
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    Run(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]), sys.argv[6:]).go()
