"""Work that is taken off the GPU inside a kernel: strict caps, and pauses. Other jobs count on the result, so each is compared with an undisturbed one."""
import os
import statistics
import time

from kit import Job, Late, SIMULATED, quantile
import picture

STRICT_SECONDS, PAUSE_SECONDS = (1.0, 2.0) if SIMULATED else (2.0, float(os.environ.get("PAUSE_SECONDS", "10")))
POINTS = 2.0
PAUSE_TARGET_MS = 2.0
PAUSES = int(os.environ.get("PAUSES", "20"))
LOG = os.environ.get("LOG", "info")  # debug tells which control calls were slow


class Reference:
    """A kernel of so many seconds, without Sluice: how many rounds it has, how long it takes, and its result."""

    def __init__(self, run, name, seconds):
        job = Job(run, name, ["grind"])
        job.next("ready", 40)
        rounds = int(job.ask("rounds", "rounds", 50000)["rounds"]["50000"]) // 256 * 256
        took = job.ask("digest", "beat", 10 * rounds, seconds=30)["seconds"]  # with beats a round takes another time
        rounds = int(10 * rounds * seconds / took) // 256 * 256
        found = job.ask("digest", "beat", rounds, seconds=10 * seconds + 20)
        job.close()
        self.rounds, self.seconds, self.digest = rounds, found["seconds"], found["digest"]
        run.note(name, **found)
        run.say(f"{name}: {rounds} rounds alone in {self.seconds:.3f} s")


def is_same(found, reference):
    return "right" if found["digest"] == reference.digest else "WRONG"


def on_time(found, reference):
    """For each whole second: part of it on the GPU, and progress against alone, in per cent. A gap in which rounds were done was one of the poller."""
    rate = reference.rounds / reference.seconds
    whole = int(found["seconds"])
    off = [0.0] * (whole + 1)
    for begin, end, done in found["gaps"]:
        lost = max(0.0, end - begin - done / rate)
        for second in range(int(begin), min(int(end), whole) + 1):
            inside = min(end, second + 1) - max(begin, second)
            off[second] += lost * max(0, inside) / (end - begin)
    samples = found["samples"] + [[found["seconds"], found["rounds"]]]
    at = [progress(samples, second) for second in range(whole + 1)]
    return [100 * (1 - off[second]) for second in range(whole)], [100 * (at[second + 1] - at[second]) / rate for second in range(whole)]


def progress(samples, at):
    """Rounds at a time, between two samples in proportion."""
    for (t0, r0), (t1, r1) in zip(samples, samples[1:]):
        if t0 <= at <= t1:
            return r0 + (r1 - r0) * (at - t0) / max(1e-9, t1 - t0)
    return samples[-1][1]


def strict(run):
    """One kernel of 2 s under strict caps, alone and beside a tenant of the same weight that always has work."""
    reference = Reference(run, "strict-reference", STRICT_SECONDS)
    lines = [f"One kernel that takes {reference.seconds:.2f} s alone. On the GPU: by beats that it writes to host memory every 20 µs or so, polled as often as the host can. "
             "Progress: its rounds against alone. Whole seconds from its first beat.", "",
             "| cap | beside | seconds | on the GPU, each second | farthest from the cap | progress, mean | result | the other tenant |", "|---:|---|---:|---|---:|---:|---|---:|"]
    rows, worst, wrong, cases = [], [], 0, 0
    order = [(25, False), (50, False), (10, False), (50, True), (25, True), (10, True), (50, False), (25, False), (50, True)]
    for cap, beside in order:
        try:
            run.need(STRICT_SECONDS * 100 / cap + 6)
            found, other = strict_case(run, reference, cap, beside)
        except (Late, RuntimeError) as problem:
            run.say(f"strict {cap} %{' beside' if beside else ''}: {str(problem)[:160]}")
            lines.append(f"| {cap} % | {'1 ms kernels' if beside else '-'} | {str(problem)[:120]} | | | | | |")
            continue
        on, progressed = on_time(found, reference)
        off_by = max((abs(value - cap) for value in on), default=float("nan"))
        result = is_same(found, reference)
        cases, wrong = cases + 1, wrong + (result != "right")
        if not beside:
            worst += [abs(value - cap) for value in on]
        lines.append(f"| {cap} % | {'1 ms kernels' if beside else '-'} | {found['seconds']:.2f} | {' '.join(f'{value:.1f}' for value in on)} | {off_by:.1f} points | "
                     f"{statistics.mean(progressed) if progressed else float('nan'):.1f} % | {result} | {other} |")
        run.note("strict", cap=cap, beside=beside, on=on, progress=progressed, **found)
        run.say(lines[-1])
        rows.append((f"{cap} %{' beside 1 ms kernels' if beside else ''}", {"on the GPU − cap, points, each second": [value - cap for value in on] or [0]}))
        run.table("strict", "\n".join(lines))
        run.picture("strict", picture.dots("Strict caps: on the GPU − cap, in points, in each second", rows, logarithmic=False))
        if worst:
            run.conclude("strict caps 10, 25, 50 %", f"± {POINTS:.0f} points in every second, result right",
                         f"{sum(value <= POINTS for value in worst)} of {len(worst)} seconds within; farthest {max(worst):.1f} points; {cases - wrong} of {cases} results right")
    run.table("strict", "\n".join(lines))


def strict_case(run, reference, cap, beside):
    folder = run.folder()
    job = Job(run, f"strict-{cap}{'-beside' if beside else ''}", ["grind"], ["--compute", f"{cap}%", "--strict"], folder)
    other = Job(run, f"strict-{cap}-neighbour", ["grind"], ["--weight", "1"], folder) if beside else None
    job.next("ready", 40)
    without = None
    if other:
        other.next("ready", 40)
        rounds = other.ask("rounds", "rounds", 1000)["rounds"]["1000"]
        other.ask("started", "loop", rounds, 8)
        time.sleep(1)
        done = other.ask("done", "done")["done"]
        without = (len(done) - 1) / (done[-1] - done[0])
    time.sleep(1.0)  # what its start took is repaid
    found = job.ask("digest", "beat", reference.rounds, seconds=STRICT_SECONDS * 250 / cap + 20)
    told = "-"
    if other:
        done = [at for at in other.ask("done", "done")["done"] if found["began"] <= at <= found["began"] + found["seconds"]]
        told = f"{100 * (len(done) - 1) / (done[-1] - done[0]) / without:.1f} % of its speed" if len(done) > 2 else "nothing"
        other.close()
    found["said"] = job.warnings()[:5]
    job.close()
    return found, told


def pause(run):
    """A kernel of PAUSE_SECONDS, paused PAUSES times by the command word, with and without a thread in the driver that waits for it."""
    reference = Reference(run, "pause-reference", PAUSE_SECONDS)
    lines = [f"One kernel that takes {reference.seconds:.2f} s alone. ms from the moment at which the process itself writes the command word to the last beat of the kernel, and from the word "
             "that resumes it to the next beat; beats come every 20 µs or so, polled as often as the host can.", "",
             "| thread in the driver | pauses | to the last beat: p50 | p90 | most | stood still | answer p50 | resumed: p50 | most | result |", "|---|---:|---:|---:|---:|---|---:|---:|---:|---|"]
    every, right = [], []
    for waits in (1, 0):
        try:
            run.need(PAUSE_SECONDS * 1.3 + 6)
            folder = run.folder()
            job = Job(run, f"pause-{waits}", ["grind"], ["--priority", "normal"], folder, log=LOG)
            job.next("ready", 40)
            found = job.ask("pauses", "pauses", reference.rounds, PAUSES, folder, waits, seconds=PAUSE_SECONDS * 3 + 30)
            found["said"] = job.warnings()[:5]
            job.close()
        except (Late, RuntimeError) as problem:
            run.say(f"pause: {str(problem)[:160]}")
            lines.append(f"| {'waits for the kernel' if waits else 'none'} | {str(problem)[:120]} | | | | | | | | |")
            continue
        stops, goes = [1e3 * one["stop"] for one in found["pauses"]], [1e3 * one["go"] for one in found["pauses"]]
        answers = [1e3 * one["answer"] for one in found["pauses"] if one["answer"] is not None]
        every += stops
        right.append(is_same(found, reference))
        still = sum(one["still"] for one in found["pauses"])
        lines.append(f"| {'waits for the kernel' if waits else 'none'} | {len(stops)} | {quantile(stops, 0.5):.2f} | {quantile(stops, 0.9):.2f} | {max(stops):.2f} | {still} of {len(stops)} | "
                     f"{quantile(answers, 0.5) if answers else float('nan'):.2f} | {quantile(goes, 0.5):.2f} | {max(goes):.2f} | {right[-1]} |")
        run.note("pause", waits=waits, **found)
        run.say(lines[-1])
        run.table("pause", "\n".join(lines))
        run.conclude(f"pause inside a kernel of {PAUSE_SECONDS:.0f} s", f"no work after {PAUSE_TARGET_MS:.0f} ms; resumed, result right",
                     f"{sum(value <= PAUSE_TARGET_MS for value in every)} of {len(every)} within; p50 {quantile(every, 0.5):.2f} ms, most {max(every):.2f} ms; "
                     f"{right.count('right')} of {len(right)} results right")
    run.table("pause", "\n".join(lines))
