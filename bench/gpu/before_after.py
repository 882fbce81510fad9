#!/usr/bin/env python3
"""What two builds of Sluice cost, in one run: `sluice bench` and the table `cost` of `sluice bench compute`, of both builds by turns.

usage: before_after.py BEFORE AFTER OUTPUT [bench] [cost]     BEFORE and AFTER are folders of distributions; without a part: both parts
ROUNDS (4) is how often each build is measured, MOST_SECONDS (290) what all rounds may take together; SIMULATED=1 uses the simulated GPU.
OUTPUT/table.md is written after each round, OUTPUT/values.csv has every value. A round that does not fit into the time is not begun.
"""
import csv
import json
import os
import signal
import statistics
import subprocess
import sys
import time

BEGAN = time.monotonic()
MOST_SECONDS = float(os.environ.get("MOST_SECONDS", 290))
SIMULATED = ["--sim"] if os.environ.get("SIMULATED") else []
COST_ROWS = "cost/memory quota,cost/cap not,cost/weight"
COMMANDS = {"bench": (90, ["bench", "--repeats", "1"]), "cost": (60, ["bench", "compute", "--only", COST_ROWS, "--seconds", "1", "--repeats", "1"])}


def left():
    return MOST_SECONDS - (time.monotonic() - BEGAN)


def measure(part, way, home, out):
    """Runs a part once, no longer than its limit and the time that is left, and ends all its processes. True if it ended well."""
    limit, words = COMMANDS[part]
    with open(out + ".log", "w", encoding="utf-8") as log:
        process = subprocess.Popen([os.path.join(home, "bin", "sluice"), *words, *SIMULATED, "--out", out], stdout=log, stderr=log,
                                   stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            status = process.wait(max(1, min(limit, left())))
        except subprocess.TimeoutExpired:
            status = "out of time"
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
    print(f"{time.monotonic() - BEGAN:4.0f} s: {part} {way}: status {status}", flush=True)
    return status == 0


def values(part, out):
    """Row, nanoseconds without the library, nanoseconds that the library adds."""
    if part == "bench":
        with open(os.path.join(out, "bench.json"), encoding="utf-8") as file:
            for row in json.load(file)["measurements"]:
                yield row["name"], row["withoutNanos"][0], row["addedNanos"]["median"]
        return
    rows = {}
    with open(os.path.join(out, "compute.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["row"], {}).setdefault(row["quantity"], {})[row["at"]] = float(row["value"])
    for name, kinds in rows.items():
        without, through = kinds["without-nanos"], kinds["with-nanos"]
        yield name, statistics.median(without.values()), statistics.median(through[at] - without[at] for at in without if at in through)


def nanos(value, sign=""):
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if abs(value) >= 10 * size:
            return f"{value / size:{sign}.1f} {unit}"
    return f"{value:{sign}.0f} ns"


def spread(seen):
    return f"{nanos(statistics.median(seen), '+')} ({nanos(min(seen), '+')} … {nanos(max(seen), '+')})"


def verdict(before, after):
    if max(len(before), len(after)) < 3:
        return "too few rounds"
    if min(after) > max(before):
        return "**more**"
    return "**less**" if max(after) < min(before) else "same"


def table(rows):
    lines = ["Median (least … most) of the rounds. The library takes no part in the column \"without\": its change from build to build is noise.",
             "\"Same\": the ranges of both builds overlap.", "",
             "| | rounds | without: before, after | added before | added after | change | |", "|---|---:|---:|---:|---:|---:|---|"]
    for name, ways in rows.items():
        if len(ways) == 2:
            (before, added_before), (after, added_after) = ([*zip(*ways[way])] for way in ("before", "after"))
            change = statistics.median(added_after) - statistics.median(added_before)
            lines.append(f"| {name} | {min(len(before), len(after))} | {nanos(statistics.median(before))}, {nanos(statistics.median(after))} "
                         f"| {spread(added_before)} | {spread(added_after)} | {nanos(change, '+')} | {verdict(added_before, added_after)} |")
    return "\n".join(lines) + "\n"


def main(before, after, out, *parts):
    homes = {"before": before, "after": after}
    rows, longest = {}, 0
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "values.csv"), "w", encoding="utf-8", newline="") as file:
        raw = csv.writer(file)
        raw.writerow(["part", "round", "build", "row", "without_nanos", "added_nanos"])
        for round_ in range(1, int(os.environ.get("ROUNDS", 4)) + 1):
            if left() < longest:
                print(f"no time left for round {round_}")
                break
            began = time.monotonic()
            for part in parts or COMMANDS:
                for way in sorted(homes, reverse=round_ % 2 == 1):  # each build is first in every other round
                    folder = os.path.join(out, f"{part}-{way}-{round_}")
                    if measure(part, way, homes[way], folder):
                        for name, without, added in values(part, folder):
                            rows.setdefault(name, {}).setdefault(way, []).append((without, added))
                            raw.writerow([part, round_, way, name, without, added])
            longest = max(longest, time.monotonic() - began)
            with open(os.path.join(out, "table.md"), "w", encoding="utf-8") as text:
                text.write(table(rows))
    print(table(rows), end="")
    return 0 if rows else 1


if __name__ == "__main__":
    if len(sys.argv) < 4 or not set(sys.argv[4:]) <= set(COMMANDS):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
