"""Training steps of a small transformer in PyTorch, without and with a memory quota, turn by turn.

usage: training.py REPEATS SECONDS COMMAND...

Starts two processes, one as it is and one behind COMMAND (such as: sluice run --memory 40g --), which take turns of SECONDS
each; after half of the repeats a fresh pair goes on. In COMMAND {pair} stands for the number of the pair. Prints a line for
each repeat and a table of medians.
"""
import statistics
import subprocess
import sys
import time

WIDTH = 1024
PAIRS = 2
WARM_UP_STEPS = 30


def make_step():
    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(WIDTH, 16, 4 * WIDTH, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    x = torch.randn(16, 128, WIDTH, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = ((model(x) - x) ** 2).mean()
        loss.backward()
        optimizer.step()

    return step, torch.cuda.synchronize


def serve():
    """Reads how many seconds a turn shall take, answers with the milliseconds of one step."""
    step, wait = make_step()
    for _ in range(WARM_UP_STEPS):
        step()
    wait()
    print("ready", flush=True)
    for line in sys.stdin:
        start, steps = time.perf_counter(), 0
        while time.perf_counter() - start < float(line):
            for _ in range(10):
                step()
            steps += 10
            wait()
        print((time.perf_counter() - start) * 1000 / steps, flush=True)


class Server:
    def __init__(self, command):
        self.process = subprocess.Popen(
            command + [sys.executable, __file__, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"a process ended with status {self.process.wait()}")
        return line.strip()

    def turn(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        return float(self.answer())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def row(name, values, unit):
    print(f"| {name} | {statistics.median(values):.3f}{unit} | {min(values):.3f} … {max(values):.3f} |")


def main(repeats, seconds, command):
    without, limited = [], []
    for pair in range(PAIRS):
        servers = [Server([]), Server([word.replace("{pair}", str(pair + 1)) for word in command])]
        for server in servers:
            server.answer()
        for repeat in range(repeats * pair // PAIRS, repeats * (pair + 1) // PAIRS):
            values = [0.0, 0.0]
            for who in (0, 1) if repeat % 2 == 0 else (1, 0):
                values[who] = servers[who].turn(seconds)
            without.append(values[0])
            limited.append(values[1])
            print(f"repeat {repeat + 1}: {values[0]:.3f} ms a step without, {values[1]:.3f} ms with", flush=True)
        for server in servers:
            server.close()
    print(f"\n{repeats} repeats, turns of {seconds:g} s, {PAIRS} pairs of processes\n")
    print("| a step of training | median | spread |\n|---|---:|---:|")
    row("without Sluice", without, " ms")
    row("with `" + " ".join(command) + "`", limited, " ms")
    row("ratio, repeat by repeat", [b / a for a, b in zip(without, limited)], "×")


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    elif len(sys.argv) < 4:
        sys.exit(__doc__)
    else:
        main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
