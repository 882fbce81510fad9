"""Two users with weights 3 and 1 through the machine's agent, with endless kernels, in under a minute. Needs root, setpriv and unshare.

usage: users.py DISTRIBUTION OUTPUT [--sim] [--namespace] [SECONDS]

The phases and the witness are those of agent.py: with an agent, after kill -9 without one, with a new one; the kernels stamp when they ran.
With --namespace the second job runs in a pid namespace of its own, as a container's does. Writes OUTPUT/agent.md and OUTPUT/shares.csv.
"""
import os
import signal
import subprocess
import sys
import tempfile

import agent

USERS = {"three": 64201, "one": 64202}


class Users(agent.Bench):
    def __init__(self, home, output, simulated, seconds, namespace):
        super().__init__(home, output, simulated, seconds)
        self.namespace = namespace
        self.shared = tempfile.mkdtemp(prefix="sluice-users-")
        os.chmod(self.shared, 0o1777)
        self.register = os.path.join(self.shared, "register", "agent-register.sock")
        if simulated:
            state = os.path.join(self.shared, "gpu")
            open(state, "w").close()
            os.chmod(state, 0o666)
            self.environment["SLUICE_SIM_STATE"] = state
        with open(self.config, "a") as file:
            file.write(f"all-users = yes\nlook-in = {self.shared}\nsocket = {self.runtime}/agent.sock\nregister-socket = {self.register}\n")

    def start_tenant(self, name, weight):
        apart = ["unshare", "--pid", "--fork", "--mount-proc"] if self.namespace and name == "one" else []
        user = str(USERS[name])
        command = [*apart, "setpriv", "--reuid", user, "--regid", user, "--clear-groups", self.sluice, "run", "--name", name, "--weight", str(weight),
                   *(["--sim"] if self.simulated else []), "--", self.java, "-XX:+UseSerialGC", "--enable-native-access=sluice.cuda,sluice.proof", "-m",
                   "sluice.proof/sluice.proof.probe.Probe", "DLSYM"]
        environment = {key: value for key, value in self.environment.items() if key != "SLUICE_RUNTIME_DIR"} | {"SLUICE_AGENT": self.register, "HOME": "/tmp"}
        self.tenants[name] = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                              stderr=open(os.path.join(self.output, name + ".log"), "w"))

    def play(self):
        self.say(f"agent answers after {self.start_agent() * 1000:.0f} ms")
        for name, weight in agent.WEIGHTS.items():
            self.start_tenant(name, weight)
        for name in agent.WEIGHTS:
            for line in (None, "open", f"load prepare LAUNCHES {agent.KERNEL_NANOS} {round((3 * self.seconds + 2) * 1000)} 1", "load calibrate"):
                if line:
                    self.command(name, line)
                self.facts(name)
        stamps = {name: os.path.join(self.shared, name + ".stamps") for name in agent.WEIGHTS}
        for name in agent.WEIGHTS:
            self.command(name, f"load go {stamps[name]}")
        phases = [self.phase("with an agent", "agent")]
        self.agents[0].send_signal(signal.SIGKILL)
        self.agents[0].wait()
        phases.append(self.phase("agent killed", None))
        self.say(f"the other agent answers after {self.start_agent() * 1000:.0f} ms")
        phases.append(self.phase("another agent", "agent"))
        return phases, {name: self.facts(name) for name in agent.WEIGHTS}, stamps

    def close(self):
        super().close()
        subprocess.run(["rm", "-rf", self.shared], check=False)

    def note(self, when, source):
        return super().note(when, source) if source else None


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if len(words) < 2:
        sys.exit(__doc__)
    os.makedirs(words[1], exist_ok=True)
    bench = Users(words[0], words[1], "--sim" in sys.argv, float(words[2]) if len(words) > 2 else 6.0, "--namespace" in sys.argv)
    try:
        agent.report(bench, *bench.play())
    finally:
        bench.close()
