"""Two weighted tenants with endless kernels while their agent is killed and another one started, in under a minute.

usage: agent.py DISTRIBUTION OUTPUT [--sim] [SECONDS]

Three phases of SECONDS (6): with an agent, after kill -9 without one, with a new one. The tenants' kernels stamp when they ran, by the GPU's own
clock, which gives the shares of each phase; GPU time used is asked for in all phases, of the agent where there is one and of the regions
where there is none. Writes OUTPUT/agent.md, OUTPUT/shares.csv with the share of each tenth of a second, and OUTPUT/totals.csv.
"""
import array
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

WEIGHTS = {"three": 3, "one": 1}
KERNEL_NANOS = 1_000_000
GAP_NANOS = 3000
SETTLED = 1.0
PATIENCE = 60


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("agent", timeout=10)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(10)
        self.sock.connect(self.path)


class Bench:
    def __init__(self, home, output, simulated, seconds):
        self.sluice, self.output, self.simulated, self.seconds = os.path.join(home, "bin", "sluice"), output, simulated, seconds
        self.java = os.path.join(home, "runtime", "bin", "java")
        self.runtime = tempfile.mkdtemp(prefix="sluice-agent-")
        self.environment = dict(os.environ, SLUICE_RUNTIME_DIR=self.runtime)
        if simulated:
            self.environment["SLUICE_SIM_STATE"] = os.path.join(self.runtime, "gpu")
        self.config = os.path.join(output, "agent.conf")
        with open(self.config, "w") as file:
            file.write(f"state-directory = {self.runtime}/state\n")
        self.agents, self.totals, self.lines = [], [], []
        self.tenants = {}

    # agent

    def start_agent(self):
        log = open(os.path.join(self.output, f"agent-{len(self.agents) + 1}.log"), "w")
        began = time.monotonic()
        agent = subprocess.Popen([self.sluice, "agent", "--config", self.config], env=self.environment, stdout=log, stderr=log)
        self.agents.append(agent)
        while time.monotonic() - began < 20:
            try:
                if self.ask("/healthz").strip().startswith("ok"):
                    return time.monotonic() - began
            except OSError:
                time.sleep(0.02)
        raise SystemExit("the agent does not answer; see " + log.name)

    def ask(self, path):
        connection = Unix(os.path.join(self.runtime, "agent.sock"))
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    # tenants

    def start_tenant(self, name, weight):
        command = [self.sluice, "run", "--name", name, "--weight", str(weight), *(["--sim"] if self.simulated else []), "--",
                   self.java, "-XX:+UseSerialGC", "--enable-native-access=sluice.cuda,sluice.proof", "-m", "sluice.proof/sluice.proof.probe.Probe", "DLSYM"]
        self.tenants[name] = subprocess.Popen(command, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                              stderr=open(os.path.join(self.output, name + ".log"), "w"))

    def command(self, name, line):
        self.tenants[name].stdin.write(line + "\n")
        self.tenants[name].stdin.flush()

    def facts(self, name):
        line = self.tenants[name].stdout.readline()
        found = dict(fact.split("=", 1) for fact in line.rstrip("\n").split("\t") if "=" in fact)
        if "error" in found or not found:
            raise SystemExit(f"{name}: {line or 'the process ended'}")
        return found

    # what is said about the tenants

    def used(self, source):
        """GPU nanoseconds by tenant: 'agent' asks the agent, 'ps' the command, which asks the agent if there is one and else reads the regions."""
        text = self.ask("/v1/tenants") if source == "agent" else subprocess.run(
            [self.sluice, "ps", "--all", "--json"], env=self.environment, capture_output=True, text=True, timeout=20).stdout
        document = json.loads(text)
        tenants = document if isinstance(document, list) else document["tenants"]
        return {tenant["tenant"]: sum(gpu["time"].get("usedNanos", 0) for gpu in tenant["gpus"]) for tenant in tenants if tenant["tenant"] in WEIGHTS}

    def note(self, when, source):
        try:
            used = self.used(source)
        except (OSError, ValueError, KeyError) as failed:
            self.say(f"{when}, {source}: {type(failed).__name__} {failed}")
            return None
        self.totals.append((time.monotonic_ns(), when, source, used))
        return used

    def say(self, line):
        self.lines.append(line)
        print(line, flush=True)

    # the play

    def play(self):
        self.say(f"agent answers after {self.start_agent() * 1000:.0f} ms")
        for name, weight in WEIGHTS.items():
            self.start_tenant(name, weight)
        total = 3 * self.seconds + 2
        for name in WEIGHTS:
            self.facts(name)
            self.command(name, "open")
            self.facts(name)
            self.command(name, f"load prepare LAUNCHES {KERNEL_NANOS} {round(total * 1000)} 1")
            self.facts(name)
        for name in WEIGHTS:
            self.command(name, "load calibrate")
            self.facts(name)
        stamps = {name: os.path.join(self.runtime, name + ".stamps") for name in WEIGHTS}
        for name in WEIGHTS:
            self.command(name, f"load go {stamps[name]}")
        phases = []
        phases.append(self.phase("with an agent", "agent"))
        self.agents[0].send_signal(signal.SIGKILL)
        self.agents[0].wait()
        self.killed_at = time.time()
        phases.append(self.phase("agent killed", "ps"))
        restarted = self.start_agent()
        phases.append(self.phase("another agent", "agent"))
        self.say(f"the other agent answers after {restarted * 1000:.0f} ms")
        for when in ("with an agent", "agent killed", "another agent"):
            looks = [used for _, at, _, used in self.totals if at == when]
            self.say(f"{when}: first look {text(looks[0] if looks else None)}; last {text(looks[-1] if looks else None)}")
        facts = {name: self.facts(name) for name in WEIGHTS}
        time.sleep(1.2)
        self.rest(facts, stamps)
        return phases, facts, stamps

    def phase(self, name, source):
        began = time.monotonic_ns()
        until = time.monotonic() + self.seconds
        while time.monotonic() < until:
            self.note(name, source)
            time.sleep(min(1.0, max(0, until - time.monotonic())))
        return name, began, time.monotonic_ns()

    def rest(self, facts, stamps):
        """When nothing moves any more: the agent, the command and, without an agent, the regions must say the same to the nanosecond."""
        said = [("the agent", self.note("at rest", "agent")), ("sluice ps with it", self.note("at rest", "ps"))]
        history = self.history()
        self.agents[-1].send_signal(signal.SIGKILL)
        self.agents[-1].wait()
        said.append(("the regions", self.note("at rest, no agent", "ps")))
        equal = all(used is not None and used == said[0][1] for _, used in said)
        self.say("at rest: " + "; ".join(f"{who} {text(used)}" for who, used in said) + (": equal" if equal else ": NOT EQUAL"))
        self.say(history)
        for name in WEIGHTS:
            busy = busy_nanos(spans(stamps[name]), 0, 1 << 63)
            booked = (said[-1][1] or {}).get(name, 0)
            self.say(f"{name}: stamps {busy / 1e9:.3f} s of GPU time, booked {booked / 1e9:.3f} s ({100 * (booked / busy - 1):+.2f} %)")

    def history(self):
        try:
            document = json.loads(self.ask("/v1/history"))
        except (OSError, ValueError) as failed:
            return f"history: {failed}"
        points = {series["tenant"]: [point[0] for point in series["points"]] for series in document["series"] if series["tenant"] in WEIGHTS}
        return "history of the new agent: " + "; ".join(
            f"{name} {sum(second < self.killed_at for second in seconds)} seconds before the kill, {sum(second >= self.killed_at for second in seconds)} after"
            for name, seconds in sorted(points.items()))

    def close(self):
        for process in [*self.tenants.values(), *self.agents]:
            process.kill()
            process.wait()
        subprocess.run(["rm", "-rf", self.runtime], check=False)


def text(used):
    return "nothing" if used is None else ", ".join(f"{name} {nanos / 1e9:.6f} s" for name, nanos in sorted(used.items()))


def spans(file):
    """The union of the stamps, gaps between queued kernels included."""
    words = array.array("q")
    with open(file, "rb") as data:
        words.frombytes(data.read())
    merged = []
    for begin, end in sorted(zip(words[0::2], words[1::2])):
        if merged and begin - merged[-1][1] < GAP_NANOS:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def busy_nanos(merged, begin, end):
    return sum(max(0, min(stop, end) - max(start, begin)) for start, stop in merged)


def monotone(totals):
    last = {}
    for _, when, source, used in totals:
        for name, nanos in used.items():
            if nanos < last.get(name, 0):
                return f"NOT monotone: {name} {last[name]} then {nanos} ({when}, {source})"
            last[name] = nanos
    return f"GPU time used never went back in {len(totals)} looks"


def report(bench, phases, facts, stamps):
    merged = {name: spans(stamps[name]) for name in WEIGHTS}
    offset = {name: int(facts[name]["offset"]) for name in WEIGHTS}
    lines = ["| | three | one | together | ratio | off by | target | |", "|---|---:|---:|---:|---:|---:|---|---|"]
    most = 0.15 if bench.simulated else 0.03
    for at, (phase, began, ended) in enumerate(phases):
        begin = began + int(SETTLED * 1e9) if at == 0 else began
        share = {name: busy_nanos(merged[name], begin + offset[name], ended + offset[name]) / (ended - begin) for name in WEIGHTS}
        ratio = share["three"] / share["one"] if share["one"] else float("inf")
        error = abs(ratio / 3 - 1)
        lines.append(f"| {phase}, {(ended - begin) / 1e9:.1f} s | {100 * share['three']:.1f} % | {100 * share['one']:.1f} % | {100 * sum(share.values()):.1f} % "
                     f"| {ratio:.3f} | {100 * error:.1f} % | ≤ {100 * most:.0f} % | {'met' if error <= most else 'missed'} |")
    with open(os.path.join(bench.output, "shares.csv"), "w") as csv:
        print("tenant,seconds,share", file=csv)
        start = phases[0][1]
        for name in WEIGHTS:
            for tenth in range(int((phases[-1][2] - start) / 1e8)):
                from_nanos = start + tenth * 100_000_000 + offset[name]
                print(f"{name},{tenth / 10:.1f},{busy_nanos(merged[name], from_nanos, from_nanos + 100_000_000) / 1e8:.4f}", file=csv)
    with open(os.path.join(bench.output, "totals.csv"), "w") as csv:
        print("seconds,phase,source,tenant,used_nanos", file=csv)
        for at, when, source, used in bench.totals:
            for name, nanos in used.items():
                print(f"{(at - phases[0][1]) / 1e9:.3f},{when},{source},{name},{nanos}", file=csv)
    bench.say(monotone(bench.totals))
    page = "\n".join(lines) + "\n\n" + "\n".join(bench.lines) + "\n"
    with open(os.path.join(bench.output, "agent.md"), "w") as file:
        file.write(page)
    print("\n" + page, flush=True)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--sim"]
    if len(words) < 2:
        sys.exit(__doc__)
    os.makedirs(words[1], exist_ok=True)
    bench = Bench(os.path.abspath(words[0]), words[1], "--sim" in sys.argv, float(words[2]) if len(words) > 2 else 6.0)
    try:
        report(bench, *bench.play())
    finally:
        bench.close()
