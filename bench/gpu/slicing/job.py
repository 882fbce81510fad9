"""A process on the GPU that does what the lines of its input say, and answers with a line of JSON each.

usage: job.py grind|torch|life   grind: kernels by the driver API. torch: the same, and a model and a training of PyTorch in the same context.
                                 life PART: what the library finds in a process; its log tells it (plain, contexts, torch)
                                 exact FILE STEPS ROUNDS: a training with fixed seeds, so many steps, or with 0 until the file is there
words: rounds MICROS…                     how many rounds take so long, measured alone
       bursts COUNT KERNELS ROUNDS EVERY_MS [stamps]    times bursts        model COUNT LAYERS EVERY_MS    the same with the model
       layers MICROS                      how many layers the model needs for that time
       loop ROUNDS AHEAD [stamps]         kernels without end               graph ROUNDS KERNELS          graphs without end
       train                              steps of a training without end
         meanwhile: `done` answers when each piece of work was done since the last question, `stop` ends it and tells whether the result is right
       beat ROUNDS                        one kernel, watched while it runs
       pauses ROUNDS COUNT FOLDER WAITS   one kernel, paused again and again by the command word of its own region
All times are of the host's monotonic clock, in seconds.
"""
import json
import os
import random
import select
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import gpu as driver  # noqa: E402

SETTLING = 10  # bursts that do not count


def say(**values):
    print(json.dumps(values), flush=True)


def next_word():
    line = sys.stdin.readline()
    return line.split() if line else None


def told():
    """A line that has come, or nothing."""
    return next_word() if select.select([sys.stdin], [], [], 0)[0] else []


def rest(gpu, seconds):
    """On a simulated GPU the polling itself takes the time of the work."""
    time.sleep(seconds if not os.environ.get("SIMULATED") else max(seconds, 0.0005))


class Grind:
    def __init__(self):
        self.gpu = driver.Gpu()

    def rounds(self, *micros):
        say(rounds={length: self.gpu.rounds_of(float(length)) for length in micros})

    def timed(self, count, every, one):
        """Times after the first few, and when the rest began and ended."""
        times, since = [], time.monotonic()
        for number in range(count + SETTLING):
            if number == SETTLING:
                since = time.monotonic()
            time.sleep((every - 1 + 2 * random.random()) / 1e3)
            began = time.perf_counter()
            one()
            if number >= SETTLING:
                times.append(round((time.perf_counter() - began) * 1e3, 4))
        return {"times": times, "began": since, "ended": time.monotonic()}

    def bursts(self, count, kernels, rounds, every, stamped=""):
        rounds, stamps = int(rounds), driver.Stamps(self.gpu, (int(count) + SETTLING) * int(kernels)) if stamped else None

        def one():
            for _ in range(int(kernels)):
                self.gpu.launch(rounds, 0, stamps.next() if stamps else 0)
            self.gpu.wait()

        found = self.timed(int(count), float(every), one)
        say(right=self.gpu.is_right(rounds), stamps=stamps.read() if stamps else [], **found)

    def endless(self, submit, ahead, end):
        """Keeps work queued until told to stop. A piece that is done is noticed within 0.1 ms or so."""
        gpu, done, waiting, unused = self.gpu, [], [], [self.gpu.event() for _ in range(ahead)]
        say(started=True)
        while True:
            while unused:
                event = unused.pop()
                submit()
                gpu.call("cuEventRecord", event, gpu.stream)
                waiting.append(event)
            while waiting and gpu.cuda.cuEventQuery(waiting[0]) != driver.NOT_READY:
                unused.append(waiting.pop(0))
                done.append(round(time.monotonic(), 6))
            word = told()
            if word is None or word and word[0] == "stop":
                gpu.wait()
                for event in waiting + unused:
                    gpu.call("cuEventDestroy_v2", event)
                return say(stopped=True, **end())
            if word:
                say(done=done)
                done = []
            if not unused:
                rest(gpu, 0.0001)

    def loop(self, rounds, ahead, places=""):
        rounds, stamps = int(rounds), driver.Stamps(self.gpu, int(places)) if places else None
        self.endless(lambda: self.gpu.launch(rounds, 0, stamps.next() if stamps else 0), int(ahead),
                     lambda: {"right": self.gpu.is_right(rounds), "stamps": stamps.read() if stamps else []})

    def graph(self, rounds, kernels):
        executable = self.gpu.graph(int(rounds), int(kernels))
        self.endless(lambda: self.gpu.call("cuGraphLaunch", executable, self.gpu.stream), 4, lambda: {"right": self.gpu.is_right(int(rounds))})

    def beat(self, rounds):
        import watching

        say(**watching.watch(self.gpu, int(rounds)))

    def pauses(self, rounds, count, folder, waits):
        import watching

        say(**watching.pauses(self.gpu, int(rounds), int(count), folder, waits == "1"))

    def train(self):
        """Where PyTorch is absent: kernels of the lengths of a training, a wait after each step."""
        lengths = [self.gpu.rounds_of(micros) for micros in (300, 500, 1000, 1400)] if not hasattr(self, "lengths") else self.lengths
        self.lengths = lengths

        def step():
            for length in lengths * 8:
                self.gpu.launch(length)

        self.endless(step, 2, lambda: {"right": None})

    def layers(self, micros):
        say(layers=max(1, int(float(micros) / 100)))

    def model(self, count, layers, every):
        self.hundred = getattr(self, "hundred", None) or self.gpu.rounds_of(100)

        def one():
            for _ in range(int(layers)):
                self.gpu.launch(self.hundred)
            self.gpu.wait()

        say(right=None, **self.timed(int(count), float(every), one))

    def obey(self):
        say(ready=True, missing=getattr(self, "missing", None))
        while words := next_word():
            getattr(self, words[0])(*words[1:])


def worker(kind):
    if kind == "torch":
        import learning

        return learning.make(Grind, say, told)
    return Grind()


def life(part):
    if part == "torch":
        import torch

        x = torch.randn(512, 512, device="cuda")
        for _ in range(20):
            x = torch.tanh(x @ x)
        torch.cuda.synchronize()
        time.sleep(0.3)
    gpu = driver.Gpu()
    time.sleep(0.3)
    if part == "contexts":
        first, second = gpu.make_context(), gpu.make_context()
        gpu.begin()
        time.sleep(0.3)
        gpu.call("cuCtxDestroy_v2", second)
        gpu.call("cuCtxDestroy_v2", first)
        gpu.call("cuCtxSetCurrent", gpu.context)
        gpu.begin()
        time.sleep(0.3)
    rounds = gpu.rounds_of(1000)
    say(ready=True)
    until = time.monotonic() + float(os.environ.get("LIFE_SECONDS", "0.5"))
    while time.monotonic() < until:
        gpu.launch(rounds)
        gpu.wait()
    say(right=gpu.is_right(rounds))


def exact(until, steps, rounds):
    """A training with fixed seeds, or in its place kernels whose last result follows from all before."""
    import learning

    try:
        return learning.exact(until, int(steps), say)
    except ImportError as absent:
        missing = str(absent)
    gpu, done = driver.Gpu(), 0
    say(ready=True, missing=missing)
    while done < int(steps) if int(steps) else not os.path.exists(until):
        gpu.launch(int(rounds) + done % 7 * driver.STEP)
        gpu.wait()
        done += 1
    say(digest=gpu.digest() if done else "none", steps=done)


if __name__ == "__main__":
    kind, rest_of = sys.argv[1], sys.argv[2:]
    try:
        {"life": life, "exact": exact}[kind](*rest_of) if kind in ("life", "exact") else worker(kind).obey()
    except Exception as problem:  # noqa: BLE001: its last line says it
        say(error=f"{type(problem).__name__}: {problem}")
        raise
