"""What a training step costs in each way to run it, next to none, turn by turn.

usage: steps.py OUTPUT SLUICE SETS REPEATS LIMIT WAY...    a WAY holds options of 'sluice run'; {set} is the number of the set
       steps.py serve PROCESSOR

Two shapes of training, one that waits for the GPU and one that waits for the host, in a process for every WAY and in two without
Sluice, the second of which tells how much two equal processes differ. Shares of time have one process together, between which
`sluice set` changes, also to none: two processes differ by more than what a share costs. All are on the same processor, far from where
`sluice set` runs, and work one after the other, in another order each time, for a batch of steps; after REPEATS times the rounds of a
shape a fresh set of processes goes on.

The speed of a virtual machine's processor changes from one second to the next by up to 1.8 times. Who waits for the host is as fast as
that; so before each of its steps a yardstick of Python is laid against the processor, and its ratios are of steps in yardsticks.
Writes OUTPUT/steps.csv and OUTPUT/steps.md as it goes. Begins nothing after LIMIT seconds.
"""
import collections
import os
import statistics
import sys
import time

import servers

Shape = collections.namedtuple("Shape", "width batch tokens warm steps rounds is_host_bound")  # steps before a batch and in it
SHAPES = {"large": Shape(2048, 32, 256, 2, 4, 1, False), "small": Shape(256, 16, 16, 3, 10, 4, True)}
WARM_BATCHES = 5
YARDSTICK = 400
LONGEST_TURN = 1
NONE, CONTROL, UNSHARED = "none", "none again", "--compute none"
SHARES = {"--compute": "none", "--weight": "none"}  # what `sluice set` can change, and how it takes it away
TARGET, TRACED_TARGET = 1.01, 1.02
COLUMNS = ["training", "way", "a step, median", "least … greatest", "ratio to none, median (least … greatest)", "to its own process without a share",
           "rounds", "target", ""]


def yardstick():
    """Seconds that the processor takes for what a host does in a training: small objects, made, found and called."""
    began = time.perf_counter()
    found = {}
    for at in range(YARDSTICK):
        found[at % 97] = Shape(at, at, at, at, at, at, False)._replace(steps=len(found))
    return time.perf_counter() - began


def make_step(shape):
    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(shape.width, 16, 4 * shape.width, dropout=0.0, batch_first=True, device="cuda")
    model = torch.nn.TransformerEncoder(layer, 4)
    optimizer = torch.optim.AdamW(model.parameters())
    x = torch.randn(shape.batch, shape.tokens, shape.width, device="cuda")

    def steps(count):
        """Milliseconds of a step, and in what it is to be measured."""
        took, paces = 0, []
        for at in range(count):
            if shape.is_host_bound:
                paces.append(yardstick())
            began = time.perf_counter()
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = ((model(x) - x) ** 2).mean()
            loss.backward()
            optimizer.step()
            if at == count - 1:
                torch.cuda.synchronize()
            took += time.perf_counter() - began
        return {"ms": took * 1000 / count, "pace": statistics.mean(paces) * 1000 if paces else 1}

    return steps


def serve(processor):
    """Reads shapes, answers with the milliseconds of one step."""
    import torch  # noqa: F401 - takes seconds, and who starts the processes wants to know when it is done

    say = servers.speaker()
    say(imported="torch")
    steps = {name: make_step(shape) for name, shape in SHAPES.items()}
    for name, shape in SHAPES.items():
        steps[name](WARM_BATCHES * shape.steps)
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), [processor])
    say(ready="warm")
    for line in sys.stdin:
        name = line.strip()
        steps[name](SHAPES[name].warm)  # the GPU and the caches were somebody else's
        say(**steps[name](SHAPES[name].steps))


def is_share(way):
    return way.split()[0] in SHARES


def make_servers(output, sluice, number, ways, processor):
    """By way; all shares have the same one."""
    found, sharing = {}, None
    for way in ways:
        name = f"{number}-{'shares' if is_share(way) else ''.join(letter if letter.isalnum() else '-' for letter in way)}"
        options = [] if way in (NONE, CONTROL) else way.replace("{set}", str(number)).split()
        if not is_share(way):
            found[way] = servers.Server(output, sluice, name, options, __file__, str(processor))
        else:
            sharing = found[way] = sharing or servers.Server(output, sluice, name, ["--compute", "99%"], __file__, str(processor))
    return found


def limits(way):
    if not is_share(way):
        return ()
    option, value = way.split()
    return tuple(word for pair in {**SHARES, option: value}.items() for word in pair)


def spread(ratios):
    return f"{statistics.median(ratios):.4f} ({min(ratios):.3f} … {max(ratios):.3f})" if ratios else "-"


def ratios(ours, theirs):
    """Each by round."""
    return [ours[at][1] / theirs[at][1] for at in ours if at in theirs]


def row(name, way, values, failures):
    rounds, without = values[name, way], values[name, NONE]
    if not rounds or not without:
        return [failures.get((name, way), "not run"), *"-" * 5, "missed"]
    found = ratios(rounds, without)
    own = ratios(rounds, values[name, UNSHARED]) if is_share(way) and way != UNSHARED else []
    times = [ms for ms, _ in rounds.values()]
    cells = [f"{statistics.median(times):.3f} ms", f"{min(times):.3f} … {max(times):.3f}", spread(found), spread(own), str(len(rounds))]
    if way in (NONE, CONTROL):
        return [*cells, "-", ""]
    most = TRACED_TARGET if way.startswith("--trace") else TARGET
    is_met = found and statistics.median(found) <= most and (name, way) not in failures
    return [*cells, f"≤ {most}", "met" if is_met else "missed"]


def table(values, failures):
    lines = [COLUMNS, ["---", "---", *["---:"] * 5, "---", "---"]]
    lines += [[name, way, *row(name, way, values, failures)] for name, way in values]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main(output, sluice, sets, repeats, limit, ways):
    os.makedirs(output, exist_ok=True)
    until = time.monotonic() + limit
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, processors[:(len(processors) + 1) // 2])
    every = [NONE, CONTROL, *([UNSHARED] if any(map(is_share, ways)) else []), *ways]
    values = {(name, way): {} for name in SHAPES for way in every}
    failures = {}

    def job(server, name, way, number, at, csv):
        def take(answer):
            if "ms" not in answer:
                failures[name, way] = f"set {number}: {answer.get('error', answer)}"
                return
            values[name, way][number, at] = answer["ms"], answer["ms"] / answer["pace"]
            print(f"{name},{way},{number},{at + 1},{answer['ms']:.4f},{answer['pace']:.4f}", file=csv, flush=True)
            with open(os.path.join(output, "steps.md"), "w") as file:
                file.write(table(values, failures))

        return server, limits(way), (name,), take

    with open(os.path.join(output, "steps.csv"), "w") as csv:
        print("shape,way,set,round,ms_per_step,pace", file=csv, flush=True)
        for number in range(1, sets + 1):
            by_way = make_servers(output, sluice, number, every, processors[-1])
            try:
                servers.start(list(dict.fromkeys(by_way.values())))
                jobs = []
                for name, at in ((name, at) for repeat in range(repeats) for name, shape in SHAPES.items()
                                 for at in range(repeat * shape.rounds, (repeat + 1) * shape.rounds)):
                    turn = at % len(every)
                    jobs += [job(by_way[way], name, way, number, at, csv) for way in every[turn:] + every[:turn]]
                servers.work_through(jobs, lambda: time.monotonic() + LONGEST_TURN < until)
            finally:
                for server in by_way.values():
                    server.close()
    print(f"\n{limit - (until - time.monotonic()):.0f} s\n{table(values, failures)}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(int(sys.argv[2]))
    elif len(sys.argv) < 7:
        sys.exit(__doc__)
    else:
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]), sys.argv[6:])
