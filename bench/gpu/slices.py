#!/usr/bin/env python3
"""Time slices on a real GPU. usage: slices.py DISTRIBUTION OUTPUT [PART[:SECONDS]...]

latency  bursts of three shapes beside seven choices of tenants, in four ways (slicing/latency.py); rounds as long as there is time
strict   one kernel of 2 s under strict caps of 10, 25 and 50 %, alone and beside a tenant: its part of each second, and its result
pause    a kernel of 10 s, paused 20 times: the time from the command word to the last thing that it did; resumed, and its result
soak     a training while 10,000 control calls are made on it at random, and other jobs are killed and stopped: its weights, Xids
shares   caps and weights of two low tenants while one of high priority bursts, and while it uses 30 %
cost     what slices cost when nobody uses them: the start of CUDA, a launch
turns    two equal jobs: turns, against no turns and slices of 10 ms
probe    what the library finds in a process

Without a part: all, in this order. A part takes at most its SECONDS; all of them MOST_SECONDS (560) together, and each process has a limit. Results in OUTPUT: slices.md (tables;
the short one is last, and is printed), raw.jsonl with every value, pictures, and the logs of all processes. EARLIER=OUTPUT/raw.jsonl adds the rounds of latency to those of an earlier
run. SIMULATED=1 tries everything on the simulated GPU.
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "slicing"))
import costs  # noqa: E402
import kit  # noqa: E402
import latency  # noqa: E402
import probing  # noqa: E402
import shares  # noqa: E402
import soak  # noqa: E402
import stops  # noqa: E402

PARTS = {"latency": latency.latency, "strict": stops.strict, "pause": stops.pause, "soak": soak.soak, "shares": shares.shares, "cost": costs.cost, "turns": shares.turns,
         "probe": probing.probe}


def main(home, output, *words):
    run = kit.Run(home, output, float(os.environ.get("MOST_SECONDS", "560")))
    chosen = [(word.partition(":")[0], word.partition(":")[2]) for word in words or PARTS]
    if {"latency", "soak"} & {name for name, _ in chosen}:
        run.warm()
    for name, limit in chosen:
        began = time.monotonic()
        run.part_end = began + float(limit) if limit else run.end
        try:
            run.need(5)
            if name in ("latency", "soak"):
                run.await_warm()
            PARTS[name](run)
        except kit.Late as late:
            run.say(f"{name}: {late}")
        except Exception as problem:  # noqa: BLE001: the next part runs all the same
            run.say(f"{name}: {type(problem).__name__} {problem}")
            run.note(name, problem=f"{type(problem).__name__} {problem}")
        for job in list(run.jobs):
            job.kill()
        run.say(f"== {name}: {time.monotonic() - began:.0f} s")
    run.write()
    run.pack()
    print("\n" + run.summary(), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3 or not {word.partition(":")[0] for word in sys.argv[3:]} <= set(PARTS):
        sys.exit(__doc__)
    main(*sys.argv[1:])
