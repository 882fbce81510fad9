#!/usr/bin/env python3
"""Claims of a cluster without a cluster: processes in own pid, mount and cgroup namespaces, registered at an agent as those of a pod are.

usage: claims.py DISTRIBUTION OUTPUT [--sim] [SECONDS]

The agent gets claims as the node program declares them. A container is `unshare` with the environment of the CDI file. Measured, each inside a
container and outside with `sluice run`, by turns: what a program gets under a quota of 4 GiB, with contexts and code, beside nvidia-smi; caps
of 25 % by the GPU's own clock; then a pod of weight 3 beside a job of weight 1. Needs root, setpriv and unshare. About 90 s with SECONDS = 6.
"""
import http.client
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time

import agent

USER = "64203"
QUOTA, CAP = 4 << 30, 0.25
SETTLED_NANOS = 1_500_000_000


class Claims(agent.Bench):
    def __init__(self, home, output, simulated, seconds):
        super().__init__(home, output, simulated, seconds)
        self.library, self.programs = os.path.join(home, "lib", "libsluice.so"), os.path.join(home, "lib", "test")
        self.shared = tempfile.mkdtemp(prefix="sluice-claims-")
        os.chmod(self.shared, 0o1777)
        self.register = os.path.join(self.shared, "register", "agent-register.sock")
        if simulated:
            self.environment["SLUICE_SIM_STATE"] = os.path.join(self.shared, "gpu")
            open(self.environment["SLUICE_SIM_STATE"], "w").close()
            os.chmod(self.environment["SLUICE_SIM_STATE"], 0o666)
            self.environment["LD_LIBRARY_PATH"] = os.path.join(home, "lib", "sim")
        with open(self.config, "a") as file:
            file.write(f"all-users = yes\nlook-in = {self.shared}\nsocket = {self.runtime}/agent.sock\nregister-socket = {self.register}\n")
        self.rows = []

    def declare(self, name, **limits):
        """The token of a new claim on the first GPU."""
        token, gpu = secrets.token_urlsafe(32), json.loads(self.ask("/v1/machine"))["gpus"][0]["uuid"]
        body = json.dumps({"token": token, "id": name, "gpus": [gpu], "limits": limits, "namespace": "bench", "claim": name, "pod": "pod-" + name, "container": "main"})
        connection = agent.Unix(os.path.join(self.runtime, "agent.sock"))
        try:
            connection.request("PUT", "/v1/claims/" + name, body=body, headers={"content-type": "application/json"})
            answer = connection.getresponse()
            if answer.status >= http.client.MULTIPLE_CHOICES:
                raise SystemExit(f"the agent refuses the claim: {answer.read().decode()}")
        finally:
            connection.close()
        return token

    def start(self, name, token, limits, command):
        """Inside a container that has the token, or outside with the same limits."""
        log = open(os.path.join(self.output, f"{name}-{'inside' if token else 'outside'}.log"), "w")
        environment = {key: value for key, value in self.environment.items() if key != "SLUICE_RUNTIME_DIR"} | {"SLUICE_AGENT": self.register, "HOME": "/tmp"}
        user = ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups"]
        if token:
            environment |= {"LD_PRELOAD": self.library, "SLUICE_LABEL": "claim:" + token, "SLUICE_ON_ERROR": "fail"}
            setting = [f"{key}={environment.pop(key)}" for key in ("LD_PRELOAD", "LD_LIBRARY_PATH") if key in environment]
            command = ["unshare", "--pid", "--fork", "--mount", "--mount-proc", "--cgroup", *user, "env", *setting, *command]
        else:
            command = [*user, self.sluice, "run", "--name", name, *limits, *(["--sim"] if self.simulated else []), "--", *command]
        self.tenants[name] = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, stderr=log)
        return self.tenants[name]

    def end(self, name):
        process = self.tenants.pop(name)
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()

    # memory

    def memory(self, name, token):
        hog = self.start(name, token, ["--memory", "4g"], [os.path.join(self.programs, "hog"), "--step", "16m", "--hold", "3500"])
        pids, known, shown, deadline = [], {}, 0, time.monotonic() + 30
        while time.monotonic() < deadline and hog.poll() is None:
            pids = [int(pid) for pid in subprocess.run(["pgrep", "-f", "lib/test/hog"], capture_output=True, text=True, check=False).stdout.split()]
            known = self.books(pids) or known
            shown = max(shown, smi(pids))
            time.sleep(0.4)
        lines = (hog.stdout.read() or "").splitlines()
        self.tenants.pop(name)
        got = next((line.split() for line in lines if line.startswith("got")), ["got", "0", "0", "nothing"])
        total = next((line.split()[1] for line in lines if line.startswith("total")), "0")
        self.rows.append(("quota 4096 MiB", "inside" if token else "outside", f"got {int(got[2]) >> 20} MiB, then status {got[3]}; total told {int(total) >> 20}; ledger at most "
                          f"{known.get('used', 0) >> 20}, nvidia-smi at most {shown} MiB; tenant {known.get('tenant', 'none')}"))

    def books(self, pids):
        for tenant in json.loads(self.ask("/v1/tenants"))["tenants"]:
            used = sum(gpu.get("usedBytes", 0) for gpu in tenant["gpus"])
            if used and any(word in tenant["tenant"] for word in ("quota", "outside")):
                return {"tenant": tenant["tenant"], "used": used}
        return None

    def code(self, name, token):
        """A module with a variable of 64 MiB: the ledger beside nvidia-smi, before and after the program loads it."""
        seen = {}
        for step in ("primary", "module"):
            program = self.start(f"{name}-{step}", token, ["--memory", "4g"], [os.path.join(self.programs, "footprint"), "--hold", step])
            for line in program.stdout:
                if line.startswith(step + " "):
                    break
            time.sleep(0.6)
            pids = [int(pid) for pid in subprocess.run(["pgrep", "-f", "lib/test/footprint"], capture_output=True, text=True, check=False).stdout.split()]
            used = max((sum(gpu.get("usedBytes", 0) for gpu in tenant["gpus"]) for tenant in json.loads(self.ask("/v1/tenants"))["tenants"] if "code" in tenant["tenant"]), default=0)
            seen[step] = (used >> 20, smi(pids))
            self.end(f"{name}-{step}")
        (context, context_smi), (all_, all_smi) = seen["primary"], seen["module"]
        self.rows.append(("a context, then a module of 64 MiB", "inside" if token else "outside",
                          f"ledger {context} MiB, then {all_}; nvidia-smi {context_smi}, then {all_smi}"))

    # time

    def probe(self, name, token, limits, kernel_nanos, seconds):
        java = [self.java, "-XX:+UseSerialGC", "--enable-native-access=sluice.cuda,sluice.proof", "-m", "sluice.proof/sluice.proof.probe.Probe", "DLSYM"]
        self.start(name, token, limits, java)
        for line in (None, "open", f"load prepare LAUNCHES {kernel_nanos} {round(seconds * 1000)} 1", "load calibrate"):
            if line:
                self.command(name, line)
            self.facts(name)

    def loop(self, name):
        stamps = os.path.join(self.shared, name + ".stamps")
        self.command(name, "load go " + stamps)
        return stamps

    def share(self, stamps):
        """Part of the time from the first stamp, without the first seconds, in which kernels ran."""
        spans = agent.spans(stamps)
        begin, end = spans[0][0] + SETTLED_NANOS, spans[-1][1]
        return agent.busy_nanos(spans, begin, end) / (end - begin)

    def cap(self, name, token, kernel_nanos):
        self.probe(name, token, ["--compute", "25%"], kernel_nanos, self.seconds)
        stamps = self.loop(name)
        self.facts(name)
        self.end(name)
        self.rows.append((f"cap 25 %, kernels of {kernel_nanos // 1000} us", "inside" if token else "outside", f"{100 * self.share(stamps):.2f} % of the GPU's time"))

    def turns(self, token):
        self.probe("pod", token, [], agent.KERNEL_NANOS, self.seconds)
        self.probe("job", None, ["--weight", "1"], agent.KERNEL_NANOS, self.seconds)
        stamps = {name: self.loop(name) for name in ("pod", "job")}
        facts = {name: self.facts(name) for name in stamps}
        spans = {name: agent.spans(stamps[name]) for name in stamps}
        begin = max(spans[name][0][0] - int(facts[name]["offset"]) for name in spans) + SETTLED_NANOS
        end = min(spans[name][-1][1] - int(facts[name]["offset"]) for name in spans)
        busy = {name: agent.busy_nanos(spans[name], begin + int(facts[name]["offset"]), end + int(facts[name]["offset"])) / (end - begin) for name in spans}
        for name in busy:
            self.end(name)
        self.rows.append(("pod of weight 3 beside a job of weight 1", "both", f"{100 * busy['pod']:.1f} % and {100 * busy['job']:.1f} %, ratio {busy['pod'] / busy['job']:.3f}"))

    def play(self):
        self.say(f"agent answers after {self.start_agent() * 1000:.0f} ms")
        for round_ in range(2):
            self.memory(f"quota{round_}", self.declare(f"quota{round_}", memory="4g"))
            self.memory(f"outside{round_}", None)
        self.code("code", self.declare("code", memory="4g"))
        self.code("code-outside", None)
        for kernel_nanos in (50_000, 1_000_000):
            self.cap(f"cap{kernel_nanos}", self.declare(f"cap{kernel_nanos}", compute="25%"), kernel_nanos)
            self.cap(f"run{kernel_nanos}", None, kernel_nanos)
        self.turns(self.declare("weighed", weight="3"))
        page = "\n".join(["| what | where | result |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in self.rows), "", *self.lines]) + "\n"
        with open(os.path.join(self.output, "claims.md"), "w") as file:
            file.write(page)
        print(page, flush=True)

    def close(self):
        super().close()
        subprocess.run(["rm", "-rf", self.shared], check=False)


def smi(pids):
    """MiB of these processes; 0 without nvidia-smi."""
    try:
        text = subprocess.run(["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"], capture_output=True, text=True, timeout=10).stdout
    except OSError:
        return 0
    return sum(int(used) for pid, used in (line.split(", ") for line in text.splitlines() if ", " in line) if int(pid) in pids)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if len(words) < 2:
        sys.exit(__doc__)
    os.makedirs(words[1], exist_ok=True)
    signal.alarm(280)
    bench = Claims(os.path.abspath(words[0]), words[1], "--sim" in sys.argv, float(words[2]) if len(words) > 2 else 6.0)
    try:
        bench.play()
    finally:
        bench.close()
