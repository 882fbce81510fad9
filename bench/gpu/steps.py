"""What a training step costs in each way to run it, next to none, turn by turn.

usage: steps.py OUTPUT SLUICE SETS REPEATS SECONDS LIMIT WAY...    a WAY holds options of 'sluice run'; {set} is the number of the set
       steps.py serve

Two shapes of training, one that waits for the GPU and one that waits for the host, in a process for every WAY and in two without
Sluice, the second of which tells how much two equal processes differ. Shares of time have one process together, between which
`sluice set` changes, also to none: two processes differ by more than what a share costs. All are on the same processors
and work one after the other, in another order each time, for SECONDS each; after REPEATS rounds a fresh set of processes goes on. A value is
the median of batches of steps. Writes OUTPUT/steps.csv and OUTPUT/steps.md as it goes. Begins nothing after LIMIT seconds.
"""
import os
import statistics
import sys
import time

import servers

SHAPES = {"large": (2048, 32, 256, 4), "small": (256, 16, 16, 10)}  # width, batch, tokens, steps in a batch
PROCESSORS = 4
NONE, CONTROL, UNSHARED = "none", "none again", "--compute none"
SHARES = {"--compute": "none", "--weight": "none"}  # what `sluice set` can change, and how it takes it away
TARGET, TRACED_TARGET = 1.01, 1.02


def make_step(shape):
    import torch

    width, batch, tokens, _ = SHAPES[shape]
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(width, 16, 4 * width, dropout=0.0, batch_first=True, device="cuda")
    model = torch.nn.TransformerEncoder(layer, 4)
    optimizer = torch.optim.AdamW(model.parameters())
    x = torch.randn(batch, tokens, width, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = ((model(x) - x) ** 2).mean()
        loss.backward()
        optimizer.step()

    return step, torch.cuda.synchronize


def serve():
    """Reads a shape and how many seconds a turn shall take, answers with the milliseconds of one step."""
    import torch  # noqa: F401 - takes seconds of a processor, so before this process shares a few with the others

    say = servers.speaker()
    say(imported="torch")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-PROCESSORS:])
    steps = {shape: make_step(shape) for shape in SHAPES}

    def batch(shape):
        step, wait = steps[shape]
        began = time.perf_counter()
        for _ in range(SHAPES[shape][3]):
            step()
        wait()
        return (time.perf_counter() - began) * 1000 / SHAPES[shape][3]

    for shape in SHAPES:
        for _ in range(5):
            batch(shape)
    say(ready="warm")
    for line in sys.stdin:
        shape, seconds = line.split()
        batch(shape)  # the GPU and the caches were somebody else's
        until, values = time.perf_counter() + float(seconds), []
        while time.perf_counter() < until or not values:
            values.append(batch(shape))
        say(ms=statistics.median(values))


def is_share(way):
    return way.split()[0] in SHARES


def make_servers(output, sluice, number, ways):
    """By way; all shares have the same one."""
    found, sharing = {}, None
    for way in ways:
        name = f"{number}-{'shares' if is_share(way) else ''.join(letter if letter.isalnum() else '-' for letter in way)}"
        options = [] if way in (NONE, CONTROL) else way.replace("{set}", str(number)).split()
        if not is_share(way):
            found[way] = servers.Server(output, sluice, name, options, __file__)
        else:
            sharing = found[way] = sharing or servers.Server(output, sluice, name, ["--compute", "99%"], __file__)
    return found


def limits(way):
    if not is_share(way):
        return ()
    option, value = way.split()
    return tuple(word for pair in {**SHARES, option: value}.items() for word in pair)


def table(values, failures):
    lines = ["| training | way | a step, median | spread | ratio to none, median (least … greatest) | to its own process without a share | rounds | target | |",
             "|---|---|---:|---:|---:|---:|---:|---|---|"]
    for (shape, way), rounds in values.items():
        without = values[shape, NONE]
        both = [at for at in rounds if at in without]
        if not both:
            lines.append(f"| {shape} | {way} | {failures.get((shape, way), 'not run')} | - | - | - | 0 | - | missed |")
            continue
        ratios = [rounds[at] / without[at] for at in both]
        ratio = statistics.median(ratios)
        judged = way not in (NONE, CONTROL)
        own = [rounds[at] / values[shape, UNSHARED][at] for at in rounds if is_share(way) and way != UNSHARED and at in values[shape, UNSHARED]]
        most = TRACED_TARGET if way.startswith("--trace") else TARGET
        lines.append(f"| {shape} | {way} | {statistics.median(rounds.values()):.3f} ms | {min(rounds.values()):.3f} … {max(rounds.values()):.3f} "
                     f"| {ratio:.4f} ({min(ratios):.3f} … {max(ratios):.3f}) "
                     f"| {f'{statistics.median(own):.4f} ({min(own):.3f} … {max(own):.3f})' if own else '-'} | {len(both)} "
                     f"| {f'≤ {most}' if judged else '-'} | {('met' if ratio <= most and (shape, way) not in failures else 'missed') if judged else ''} |")
    return "\n".join(lines) + "\n"


def main(output, sluice, sets, repeats, seconds, limit, ways):
    os.makedirs(output, exist_ok=True)
    until = time.monotonic() + limit
    every = [NONE, CONTROL, *([UNSHARED] if any(map(is_share, ways)) else []), *ways]
    values = {(shape, way): {} for shape in SHAPES for way in every}
    failures = {}

    def job(server, shape, way, number, at, csv):
        def take(answer):
            if "ms" not in answer:
                failures[shape, way] = f"set {number}: {answer.get('error', answer)}"
                return
            values[shape, way][at] = answer["ms"]
            print(f"{shape},{way},{number},{at + 1},{answer['ms']:.4f}", file=csv, flush=True)
            with open(os.path.join(output, "steps.md"), "w") as file:
                file.write(table(values, failures))

        return server, limits(way), (shape, seconds), take

    with open(os.path.join(output, "steps.csv"), "w") as csv:
        print("shape,way,set,round,ms_per_step", file=csv, flush=True)
        for number in range(1, sets + 1):
            by_way = make_servers(output, sluice, number, every)
            try:
                servers.start(list(dict.fromkeys(by_way.values())))
                jobs = []
                for at in range((number - 1) * repeats, number * repeats):
                    for way in every[at % len(every):] + every[:at % len(every)]:
                        jobs += [job(by_way[way], shape, way, number, at, csv) for shape in SHAPES]
                servers.work_through(jobs, lambda: time.monotonic() + 2 * seconds < until)
            finally:
                for server in by_way.values():
                    server.close()
    print(f"\n{limit - (until - time.monotonic()):.0f} s\n{table(values, failures)}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    elif len(sys.argv) < 8:
        sys.exit(__doc__)
    else:
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]), float(sys.argv[6]), sys.argv[7:])
