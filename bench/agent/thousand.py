"""What the agent and the tools cost beside many tenants: copies of the region of one that runs, each with a live process of its own.
   CPU time, because the machine may be loaded.
   python3 thousand.py [TENANTS] [SECONDS]      needs a built distribution (./sluice version builds it)"""
import os, shutil, signal, socket, struct, subprocess, sys, tempfile, time

CREATED, NAME, NAME_BYTES, SLOT, IMAGE = 24, 48, 64, 24576, 40  # docs/region.md
SHARE, USED, PAGE = 1138688, 8, 4096
root = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
sluice = root + "/dist/target/sluice/bin/sluice"
tenants, seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 1000, int(sys.argv[2]) if len(sys.argv) > 2 else 20
work = tempfile.mkdtemp(dir="/dev/shm")
run = work + "/run"
os.mkdir(run, 0o700)
os.environ.update(SLUICE_RUNTIME_DIR=run, SLUICE_SIM_STATE=work + "/gpu", SLUICE_SIM_CONTEXT="0", XDG_STATE_HOME=work + "/state", XDG_CONFIG_HOME=work + "/config")
hog = root + "/dist/target/sluice/lib/test/hog"
started = []
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def identity(pid):
    return int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[19]) << 22 | pid


def copy(region, at):
    """Only pages that are not empty, so that a thousand of them fit into memory."""
    name = f"tenant{at:04}".encode()
    with open(f"{run}/tenant{at:04}.region", "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.truncate(len(region))
        for page in range(0, len(region), PAGE):
            if any(region[page:page + PAGE]):
                file.seek(page)
                file.write(region[page:page + PAGE])
        file.seek(CREATED)
        file.write(struct.pack("<Q", struct.unpack_from("<Q", region, CREATED)[0] + at))
        sleeper = subprocess.Popen(["sleep", "100000"])
        started.append(sleeper)
        file.write(struct.pack("<Q", identity(sleeper.pid)))  # root, right after the time
        file.seek(SLOT)
        file.write(struct.pack("<Q", identity(sleeper.pid)))
        file.seek(SLOT + IMAGE)
        file.write(struct.pack("<Q", 0))
        file.seek(NAME)
        file.write(name.ljust(NAME_BYTES, b"\0"))


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def command(*words):
    """CPU time and wall time of a tool, the least of five each."""
    best = []
    for _ in range(5):
        began, before = time.monotonic(), os.times()
        subprocess.run([sluice, *words], stdout=subprocess.DEVNULL, check=True)
        after = os.times()
        best.append((after.children_user + after.children_system - before.children_user - before.children_system, time.monotonic() - began))
    print("sluice %s: %.2f s of CPU time, %.2f s; load %s" % (" ".join(words), *(min(column) for column in zip(*best)), open("/proc/loadavg").read().split()[0]))


def stream(span, change):
    with socket.socket(socket.AF_UNIX) as channel:
        channel.connect(run + "/agent.sock")
        channel.settimeout(0.2)
        channel.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        data, end = b"", time.monotonic() + span
        while time.monotonic() < end:
            change()
            try:
                data += channel.recv(1 << 20)
            except TimeoutError:
                pass
    sizes = {}
    for message in data.split(b"\n\n"):
        kind = message.split(b"event: ", 1)[-1].split(b"\n", 1)[0].decode()
        sizes.setdefault(kind, []).append(len(message))
    return {kind: max(lengths) for kind, lengths in sizes.items() if kind in ("machine", "changes")}


def busy():
    for file in regions:
        file.seek(SHARE + USED)
        file.write(struct.pack("<QQ", time.monotonic_ns() // 7, time.monotonic_ns() // 100_000))


try:
    started.append(subprocess.Popen([sluice, "run", "--sim", "--name", "seed", "--memory", "256m", "--compute", "50%", "--",
                                     hog, "--step", "2m", "--count", "1", "--hold", "600000"], stdout=subprocess.PIPE))
    started[0].stdout.readline()
    region = open(run + "/seed.region", "rb").read()
    for at in range(1, tenants):
        copy(region, at)
    agent = subprocess.Popen([sluice, "agent"], stdout=subprocess.DEVNULL)
    started.append(agent)
    time.sleep(10)
    before, began = cpu_seconds(agent.pid), time.monotonic()
    time.sleep(seconds)
    print("tenants %d; agent at rest: %.2f %% of a core over %d s; load %s" % (
        tenants, 100 * (cpu_seconds(agent.pid) - before) / (time.monotonic() - began), seconds, open("/proc/loadavg").read().split()[0]))
    print(*(line.strip() for line in open(f"/proc/{agent.pid}/status") if line.startswith(("VmRSS", "VmHWM", "RssAnon", "Threads"))), sep="; ")
    command("ps")
    command("top", "--once")
    regions = []
    print("stream at rest, largest messages:", stream(6, lambda: None))
    regions = [open(f"{run}/tenant{at:04}.region", "r+b", buffering=0) for at in range(1, tenants)]
    print("stream, all tenants changing:", stream(6, busy))
    print(*(line.strip() for line in open(f"/proc/{agent.pid}/status") if line.startswith(("VmRSS", "VmHWM"))), sep="; ")
finally:
    for process in reversed(started):
        process.terminate()
        process.wait()
    shutil.rmtree(work)
