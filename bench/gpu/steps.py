"""What a training step costs in each way to run it, next to none, turn by turn.

usage: steps.py OUTPUT SLUICE SETS REPEATS SECONDS LIMIT WAY...    a WAY holds options of 'sluice run'; {set} is the number of the set
       steps.py serve SHAPE

Two shapes of training, one that waits for the GPU and one that waits for the host; for each a process for every WAY and two without
Sluice, the second of which tells how much two equal processes differ. All are on the same processors and work one after the other, in
another order each time, for SECONDS each; after REPEATS rounds a fresh set of processes goes on. A value is the median of batches of
steps. Writes OUTPUT/steps.csv as it goes, and OUTPUT/steps.md after each round. Begins no round after LIMIT seconds.
"""
import os
import queue
import statistics
import subprocess
import sys
import threading
import time

SHAPES = {"large": (2048, 32, 256, 4), "small": (256, 16, 16, 10)}  # width, batch, tokens, steps in a batch
PROCESSORS = 4
NONE, CONTROL = "none", "none again"
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


def serve(shape):
    """Reads how many seconds a turn shall take, answers with the milliseconds of one step."""
    import torch  # noqa: F401 - takes seconds of a processor, so before this process shares a few with the others

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-PROCESSORS:])
    step, wait = make_step(shape)
    count = SHAPES[shape][3]

    def batch():
        began = time.perf_counter()
        for _ in range(count):
            step()
        wait()
        return (time.perf_counter() - began) * 1000 / count

    for _ in range(5):
        batch()
    answers = os.fdopen(os.dup(1), "w")
    print("= ready", file=answers, flush=True)
    for line in sys.stdin:
        until, values = time.perf_counter() + float(line), []
        batch()  # the GPU and the caches were somebody else's
        while time.perf_counter() < until:
            values.append(batch())
        print("=", statistics.median(values) if values else batch(), file=answers, flush=True)


class Server:
    def __init__(self, output, sluice, shape, way, number):
        self.way, self.failed, self.lines = way, None, queue.Queue()
        name = f"{shape}-{number}-{''.join(letter if letter.isalnum() else '-' for letter in way)}"
        options = [] if way in (NONE, CONTROL) else [sluice, "run", "--name", name, *way.replace("{set}", f"{shape}-{number}").split(), "--"]
        self.process = subprocess.Popen(options + [sys.executable, os.path.abspath(__file__), "serve", shape], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=open(os.path.join(output, name + ".log"), "w"), text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            if line.startswith("= "):
                self.lines.put(line[2:].strip())
        self.lines.put(None)

    def answer(self, patience):
        if self.failed:
            return None
        try:
            line = self.lines.get(timeout=patience)
        except queue.Empty:
            line = None
        if line is None:
            self.failed = "ended or hangs"
            self.process.kill()
        return line

    def turn(self, seconds):
        if self.failed:
            return None
        try:
            self.process.stdin.write(f"{seconds}\n")
            self.process.stdin.flush()
        except OSError:
            self.failed = "ended"
            return None
        line = self.answer(30)
        return line and float(line)

    def close(self):
        try:
            self.process.stdin.close()
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()


def table(values, failures):
    lines = ["| training | way | a step, median | spread | ratio to none, median (least … greatest) | ratio of medians | rounds | target | |",
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
        most = TRACED_TARGET if way.startswith("--trace") else TARGET
        lines.append(f"| {shape} | {way} | {statistics.median(rounds.values()):.3f} ms | {min(rounds.values()):.3f} … {max(rounds.values()):.3f} "
                     f"| {ratio:.4f} ({min(ratios):.3f} … {max(ratios):.3f}) "
                     f"| {statistics.median(rounds.values()) / statistics.median(without.values()):.4f} | {len(both)} "
                     f"| {f'≤ {most}' if judged else '-'} | {('met' if ratio <= most and (shape, way) not in failures else 'missed') if judged else ''} |")
    return "\n".join(lines) + "\n"


def main(output, sluice, sets, repeats, seconds, limit, ways):
    os.makedirs(output, exist_ok=True)
    began = time.monotonic()
    every = [NONE, CONTROL, *ways]
    values = {(shape, way): {} for shape in SHAPES for way in every}
    failures = {}
    round_seconds = len(SHAPES) * len(every) * (seconds + 0.2)
    with open(os.path.join(output, "steps.csv"), "w") as csv:
        print("shape,way,set,round,ms_per_step", file=csv, flush=True)
        for number in range(1, sets + 1):
            servers = {(shape, way): Server(output, sluice, shape, way, number) for shape in SHAPES for way in every}
            for key, server in servers.items():
                if server.answer(90) is None:
                    failures[key] = f"set {number} did not start"
            print(f"set {number}: ready after {time.monotonic() - began:.0f} s", flush=True)
            for repeat in range(repeats):
                if time.monotonic() - began + round_seconds > limit:
                    print(f"set {number}: no time for round {repeat + 1}", flush=True)
                    break
                at = repeat + (number - 1) * repeats
                for shape in SHAPES:
                    for way in every[at % len(every):] + every[:at % len(every)]:
                        value = servers[shape, way].turn(seconds)
                        if value is None:
                            failures[shape, way] = f"set {number} {servers[shape, way].failed}"
                        else:
                            values[shape, way][at] = value
                            print(f"{shape},{way},{number},{at + 1},{value:.4f}", file=csv, flush=True)
                with open(os.path.join(output, "steps.md"), "w") as file:
                    file.write(table(values, failures))
            for server in servers.values():
                server.close()
    print(f"\n{time.monotonic() - began:.0f} s\n{table(values, failures)}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "serve":
        serve(sys.argv[2])
    elif len(sys.argv) < 8:
        sys.exit(__doc__)
    else:
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]), float(sys.argv[6]), sys.argv[7:])
