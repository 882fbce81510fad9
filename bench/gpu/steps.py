"""What a training step costs in each way to run it, next to none, turn by turn.

usage: steps.py OUTPUT SLUICE SETS REPEATS LIMIT WAY...    a WAY holds options of 'sluice run'; {set} is the number of the set
       steps.py serve PROCESSOR

Two shapes of training, one that waits for the GPU and one that waits for the host, in a process for every WAY and in two without
Sluice, the second of which tells how much two equal processes differ. Shares of time have one process together, between which
`sluice set` changes, also to none: two processes differ by more than what a share costs. All are on the same processor, far from where
`sluice set` runs, and work one after the other, in another order each time, for a batch of steps; after REPEATS times the rounds of a
shape a fresh set of processes goes on.

The speed of a virtual machine's processor changes from second to second by up to 1.8 times. Who waits for the host is as fast as
that, so it is judged by its fastest batch next to the fastest of none in the same set; who waits for the GPU, by the median of the rounds.
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
LONGEST_TURN = 1
NONE, CONTROL, UNSHARED = "none", "none again", "--compute none"
SHARES = {"--compute": "none", "--weight": "none"}  # what `sluice set` can change, and how it takes it away
TARGET, TRACED_TARGET = 1.01, 1.02
COLUMNS = ["training", "way", "a step, median", "fastest batch", "ratio to none, by round", "by fastest batch of a set",
           "likewise to its own process without a share", "rounds", "target", ""]


def make_step(shape):
    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(shape.width, 16, 4 * shape.width, dropout=0.0, batch_first=True, device="cuda")
    model = torch.nn.TransformerEncoder(layer, 4)
    optimizer = torch.optim.AdamW(model.parameters())
    x = torch.randn(shape.batch, shape.tokens, shape.width, device="cuda")

    def steps(count):
        """Milliseconds that each of them takes."""
        began = time.perf_counter()
        for _ in range(count):
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = ((model(x) - x) ** 2).mean()
            loss.backward()
            optimizer.step()
        torch.cuda.synchronize()
        return (time.perf_counter() - began) * 1000 / count

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
        say(ms=steps[name](SHAPES[name].steps))


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


def fastest(rounds):
    """By set, of values by set and round."""
    return {number: min(value for (of, _), value in rounds.items() if of == number) for number, _ in rounds}


def ratios(ours, theirs):
    return [ours[at] / theirs[at] for at in ours if at in theirs]


def row(name, way, values, failures):
    rounds, without = values[name, way], values[name, NONE]
    if not rounds or not without:
        return [failures.get((name, way), "not run"), *"-" * 6, "missed"]
    by_round, by_set = ratios(rounds, without), ratios(fastest(rounds), fastest(without))
    own = ratios(fastest(rounds), fastest(values[name, UNSHARED])) if is_share(way) and way != UNSHARED else []
    found = [f"{statistics.median(rounds.values()):.3f} ms", f"{min(rounds.values()):.3f} ms", spread(by_round), spread(by_set), spread(own), str(len(rounds))]
    if way in (NONE, CONTROL):
        return [*found, "-", ""]
    most = TRACED_TARGET if way.startswith("--trace") else TARGET
    judged = by_set if SHAPES[name].is_host_bound else by_round
    is_met = judged and statistics.median(judged) <= most and (name, way) not in failures
    return [*found, f"≤ {most}", "met" if is_met else "missed"]


def table(values, failures):
    lines = [COLUMNS, ["---", "---", *["---:"] * 6, "---", "---"]]
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
            values[name, way][number, at] = answer["ms"]
            print(f"{name},{way},{number},{at + 1},{answer['ms']:.4f}", file=csv, flush=True)
            with open(os.path.join(output, "steps.md"), "w") as file:
                file.write(table(values, failures))

        return server, limits(way), (name,), take

    with open(os.path.join(output, "steps.csv"), "w") as csv:
        print("shape,way,set,round,ms_per_step", file=csv, flush=True)
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
