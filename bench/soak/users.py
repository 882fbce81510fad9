#!/usr/bin/env python3
"""Hostile users against root's agent, while honest clients are served.

    sudo bench/soak/users.py --seconds 60 --home DIR     # a distribution, or dist/target/sluice of a checkout

Each hostile user has a folder of their own below the place that the agent looks into, and does one thing all the time: swaps regions for
pipes, links and huge files; swaps the folder for a link; makes thousands of names; writes noise and escape sequences into regions; floods the
sockets. Files that are none of the agent's business must stay as they are. The table at the end says what held; the exit status is 0
if all did.

The agent and each hostile user have a session of their own, as a service and logins have: where the kernel shares the processor among sessions
(autogroups), no user gets more of it than the agent.

A second server that only accepts and answers is asked as often as the agent. Its times are what the machine itself takes beside the attacks.
"""
import argparse
import ctypes
import hashlib
import http.client
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

LIBC = ctypes.CDLL(None, use_errno=True)
EXCHANGE = 2
FIRST_UID = 61000


def exchange(one, other):
    LIBC.renameat2(-100, os.fsencode(one), -100, os.fsencode(other), EXCHANGE)


def region(own, name="job"):
    """A real region, made by the command itself."""
    return os.path.join(own, name + ".region")


# What one hostile user does, again and again: a function of a random generator and the user's folder.
def swap_files(dice, own):
    target, kind = region(own), dice.choice(("pipe", "link", "huge", "folder", "secret"))
    other = os.path.join(own, "other-" + kind)
    if not os.path.lexists(other):
        {"pipe": lambda: os.mkfifo(other), "link": lambda: os.symlink("/dev/zero", other), "folder": lambda: os.mkdir(other),
         "secret": lambda: os.symlink(os.path.join(own, "..", "canary", "secret"), other),
         "huge": lambda: os.truncate(os.open(other, os.O_CREAT | os.O_RDWR), 1 << 44)}[kind]()
    for _ in range(200):
        exchange(target, other)


def swap_folder(dice, own):
    link = own + ".link"
    if not os.path.lexists(link):
        os.symlink(os.path.join(os.path.dirname(own), "canary"), link)
    for _ in range(200):
        exchange(own, link)
    time.sleep(dice.random() / 100)


def many_names(dice, own):
    for number in range(20000):
        try:
            os.link(region(own), os.path.join(own, f"n{number}.region"))
        except OSError:
            break
    for number in range(2000):
        with open(os.path.join(own, f"m{number}.region"), "wb") as file:
            file.write(dice.randbytes(64))
    time.sleep(5)
    for name in os.listdir(own):
        if name != "job.region":
            os.unlink(os.path.join(own, name))


def write_noise(dice, own):
    with open(region(own), "r+b", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        for _ in range(500):
            file.seek(dice.randrange(16, size - 64))
            file.write(dice.choice((dice.randbytes(8), b"\x1b]0;owned\x07\x1b[2J", b"\xff" * 8, dice.randbytes(48))))
    os.truncate(region(own), dice.choice((size, size, 0, 4096, size // 2)))
    os.truncate(region(own), size)


def plant(dice, own):
    """Names that tools of root open, make or delete."""
    canary = os.path.join(os.path.dirname(own), "canary")
    for name in ("agent.lock", ".swept", "trace-7", "job.ledger", "board-" + "0" * 32, ".job.1.tmp", "agent.sock", "register.sock"):
        place = os.path.join(own, name)
        if not os.path.lexists(place):
            os.symlink(dice.choice((canary, os.path.join(canary, "secret"))), place)
    time.sleep(0.2)


def flood(dice, own):
    """Idle connections, slow requests, streams that nobody reads, wrong tokens, nonsense."""
    held = []
    for _ in range(100):
        try:
            one = socket.socket(socket.AF_UNIX)
            one.settimeout(1)
            one.connect(flood.socket)
            one.send(dice.choice((b"", b"GET /v1/machine HTTP/1.1\r\nHost: a\r\n", b"GET /v1/events HTTP/1.1\r\nHost: a\r\n\r\n", dice.randbytes(2000),
                                  b"PATCH /v1/tenants/job/limits HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n{",
                                  b"GET /v1/machine HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\n\r\n")))
            held.append(one)
        except OSError:
            pass
    time.sleep(dice.random() * 3)
    for one in held:
        one.close()


ATTACKS = (swap_files, swap_folder, many_names, write_noise, plant, flood)


def attack(what, uid, own, seed, nice):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.setsid()
    os.nice(nice)
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    dice = random.Random(seed)
    while True:
        try:
            what(dice, own)
        except OSError:
            time.sleep(0.01)


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("agent", timeout=10)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(10)
        self.sock.connect(self.path)


def ask(path, url):
    begin = time.monotonic()
    connection = Unix(path)
    try:
        connection.request("GET", url)
        answer = connection.getresponse()
        answer.read()
        return answer.status, time.monotonic() - begin
    except OSError:
        return 0, time.monotonic() - begin
    finally:
        connection.close()


def answer_at_once(path):
    """The baseline: a process that does nothing but accept, read once, and answer."""
    body = b"{}" * 2000
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen(64)
        pid = os.fork()
        if pid:
            return pid
        os.setsid()
        while True:
            client, _ = server.accept()
            with client:
                client.recv(65536)
                client.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


def at(times, part):
    """The time in milliseconds that this part of the answers did not take."""
    return sorted(times)[min(int(len(times) * part), len(times) - 1)] * 1000 if times else 0


def digest(folder):
    told = hashlib.sha256()
    for root, folders, files in sorted(os.walk(folder)):
        for name in sorted(folders + files):
            status = os.lstat(os.path.join(root, name))
            told.update(repr((name, status.st_mode, status.st_uid, status.st_size, status.st_mtime_ns)).encode())
    return told.hexdigest()


def status_of(pid, key):
    with open(f"/proc/{pid}/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(key + ":"))


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def threads(pid):
    names = []
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/comm") as file:
                names.append(file.read().strip())
        except OSError:
            pass
    return {name for name in names if not name.startswith(("C1", "C2", "GC ", "ForkJoin", "G1", "VM ", "virtual"))}


def make_user(home, place, uid):
    own = os.path.join(place, f"sluice-{uid}")
    os.mkdir(own, 0o700)
    environment = {"PATH": os.environ["PATH"], "SLUICE_RUNTIME_DIR": own}
    subprocess.run([home + "/bin/sluice", "run", "--sim", "--name", "job", "--memory", "1g", "--", "true"], env=environment, check=True)
    for name in os.listdir(own):
        os.chown(os.path.join(own, name), uid, uid)
    os.chown(own, uid, uid)
    return own


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nice", type=int, default=0, help="how nice the hostile users are; 0: as the agent")
    parser.add_argument("--only", default="", help="one attack alone: " + ", ".join(attack.__name__ for attack in ATTACKS))
    parser.add_argument("--home", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "dist", "target", "sluice"))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if os.getuid() != 0:
        sys.exit("only root can act for several users")
    home, place = os.path.abspath(options.home), tempfile.mkdtemp(prefix="users-", dir="/dev/shm")
    os.chmod(place, 0o1777)
    canary = os.path.join(place, "canary")
    os.mkdir(canary, 0o755)
    for name in ("secret", "old.tmp", "ring-1-1", "job.region"):
        with open(os.path.join(canary, name), "w") as file:
            file.write("not the agent's business\n")
    os.mkdir(os.path.join(place, "own"), 0o700)
    path, config = os.path.join(place, "own", "agent.sock"), os.path.join(place, "own", "agent.conf")
    os.chmod(os.path.join(place, "own"), 0o711)
    with open(config, "w") as file:
        file.write(f"all-users = yes\nlook-in = {place}\nsocket = {place}/agent.sock\nregister-socket = {place}/own/register.sock\n"
                   f"state-directory = {place}/own/state\nhistory-size = 2m\n")
    path = f"{place}/agent.sock"
    os.mkdir(place + "/own/run", 0o700)
    flood.socket = path
    users = [(what, FIRST_UID + number, make_user(home, place, FIRST_UID + number)) for number, what in enumerate(ATTACKS)
             if options.only in ("", what.__name__)]
    honest = make_user(home, place, FIRST_UID + 99)
    before = digest(canary)
    environment = {"PATH": os.environ["PATH"], "SLUICE_RUNTIME_DIR": place + "/own/run"}
    with open(place + "/own/agent.log", "w") as log:
        agent = subprocess.Popen([home + "/bin/sluice", "agent", "--config", config], env=environment, stdout=log, stderr=log,
                                 start_new_session=True)
    pids = []
    try:
        end = time.monotonic() + 30
        while ask(path, "/healthz")[0] != 200:
            if time.monotonic() > end or agent.poll() is not None:
                sys.exit("the agent does not start: " + open(place + "/own/agent.log").read())
            time.sleep(0.1)
        time.sleep(2)
        at_first = threads(agent.pid)
        plain = f"{place}/own/plain.sock"
        pids.append(answer_at_once(plain))
        for number, (what, uid, own) in enumerate(users):
            pid = os.fork()
            if pid == 0:
                attack(what, uid, own, options.seed * 100 + number, options.nice)
            pids.append(pid)
        times, machine, failed, unhealthy, memory, minute = [], [], 0, 0, [], 0
        end, shown, spent = time.monotonic() + options.seconds, time.monotonic(), cpu_seconds(agent.pid)
        while time.monotonic() < end and agent.poll() is None:
            status, seconds = ask(path, "/v1/machine")
            times.append(seconds)
            failed += status != 200
            machine.append(ask(plain, "/")[1])
            unhealthy += ask(path, "/healthz")[0] != 200
            if time.monotonic() - shown > 60:
                shown = time.monotonic()
                memory.append(status_of(agent.pid, "VmRSS") >> 10)
                print(f"{int(end - shown):5d} s left, {len(times)} answers, {failed} failed, {memory[-1]} MiB; last minute p99 "
                      f"{at(times[minute:], 0.99):.0f} ms, of the plain server {at(machine[minute:], 0.99):.0f} ms; load {os.getloadavg()[0]:.1f}", flush=True)
                minute = len(times)
            elif len(memory) == 0 or time.monotonic() - sampled > 5:
                sampled = time.monotonic()
                memory.append(status_of(agent.pid, "VmRSS") >> 10)
            time.sleep(0.03)
        alive = agent.poll() is None
        spent = cpu_seconds(agent.pid) - spent if alive else 0
        lost = at_first - threads(agent.pid) if alive else at_first
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        pids.clear()
        untouched = digest(canary) == before
        p99 = at(times, 0.99)
        half = len(memory) // 2
        growth = (max(memory[half:]) - max(memory[:half])) if half else 0
        rows = [("answers to honest clients", f"{len(times)}, {failed} failed", failed == 0), ("p99 of /v1/machine", f"{p99:.0f} ms", p99 < 250),
                ("median, 90 %, slowest", ", ".join(f"{at(times, part):.0f}" for part in (0.5, 0.9, 1)) + " ms", True),
                ("plain server: p99, median, slowest", ", ".join(f"{at(machine, part):.0f}" for part in (0.99, 0.5, 1)) + " ms", True),
                ("agent's CPU time", f"{100 * spent / options.seconds:.1f} % of a core, {1000 * spent / max(1, len(times)):.0f} ms an answer", True),
                ("looks at /healthz that were not ok", str(unhealthy), unhealthy == 0),
                ("agent alive", str(alive), alive), ("threads that ended", ", ".join(sorted(lost)) or "none", not lost),
                ("memory, first half and second", f"{max(memory[:half], default=0)} and {max(memory[half:], default=0)} MiB", growth <= 32),
                ("files outside", "untouched" if untouched else "CHANGED", untouched)]
        for name, value, good in rows:
            print(f"{'ok  ' if good else 'FAIL'}  {name:36s} {value}")
        sys.exit(0 if all(good for _, _, good in rows) else 1)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        agent.terminate()
        agent.wait(10)
        with open(place + "/own/agent.log") as log:
            sys.stdout.write("".join(log.readlines()[-20:]))
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
