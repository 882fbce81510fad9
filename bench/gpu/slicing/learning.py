"""The parts of a job that need PyTorch: a model of some milliseconds, and a training, in the context that the driver API uses."""
import hashlib
import os
import time

WIDTH = 2048


def make(base, say, told):
    """The job; without PyTorch one with kernels of such lengths in its place, which says why."""
    try:
        import torch
    except ImportError as absent:
        job = base()
        job.missing = str(absent)
        return job

    class Torch(base):
        def __init__(self):
            super().__init__()
            torch.manual_seed(1)
            self.x = torch.randn(WIDTH, WIDTH, device="cuda")
            self.layer = torch.nn.Linear(WIDTH, WIDTH).cuda()
            self.step = None
            self.run_model(4)

        def run_model(self, layers):
            x = self.x
            with torch.no_grad():
                for _ in range(layers):
                    x = torch.nn.functional.gelu(self.layer(x))
            torch.cuda.synchronize()

        def layers(self, micros):
            for _ in range(2):
                began = time.perf_counter()
                self.run_model(40)
                each = (time.perf_counter() - began) / 40 * 1e6
            say(layers=max(1, round(float(micros) / each)))

        def model(self, count, layers, every):
            layers = int(layers)
            self.run_model(layers)
            say(right=None, **self.timed(int(count), float(every), lambda: self.run_model(layers)))

        def train(self):
            """Each step waits for the GPU, as in a program that prints its loss."""
            if not self.step:
                self.step = training(torch, 12)[0]
                for _ in range(10):
                    self.step()
            done = []
            say(started=True)
            while True:
                self.step()
                done.append(round(time.monotonic(), 6))
                word = told()
                if word is None or word and word[0] == "stop":
                    return say(stopped=True, right=None)
                if word:
                    say(done=done)
                    done = []

    return Torch()


def training(torch, blocks, seed=1):
    """A step, and the model."""
    torch.manual_seed(seed)
    x = torch.randn(WIDTH, WIDTH, device="cuda")
    model = torch.nn.Sequential(*[layer for _ in range(blocks) for layer in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU())]).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step():
        optimizer.zero_grad(set_to_none=True)
        ((model(x) - x) ** 2).mean().backward()
        optimizer.step()
        torch.cuda.synchronize()

    return step, model


def exact(until, steps, say):
    """A training with fixed seeds: until a file is there, or so many steps. Says how many, and a digest of all weights."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    import torch

    torch.use_deterministic_algorithms(True, warn_only=True)
    step, model = training(torch, 6, seed=7)
    say(ready=True, torch=True)
    done = 0
    while done < steps if steps else not os.path.exists(until):
        step()
        done += 1
    total = hashlib.sha256()
    for one in model.parameters():
        total.update(one.detach().cpu().numpy().tobytes())
    say(digest=total.hexdigest()[:24], steps=done)
