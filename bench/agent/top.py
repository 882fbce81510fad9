"""What `sluice top` writes to a terminal of some size, and what it costs, over some seconds.
   python3 top.py SLUICE ROWS COLUMNS SECONDS      used by at-rest.sh"""
import fcntl, os, pty, re, select, struct, sys, termios, time

STARTING = 5
sluice, rows, columns, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm-256color"
    os.execv(sluice, [sluice, "top"])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def cpu_seconds():
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def written(span):
    data, end = b"", time.time() + span
    while time.time() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            data += os.read(terminal, 1 << 20)
    return data


written(STARTING)
before, began = cpu_seconds(), time.time()
data = written(seconds)
share = (cpu_seconds() - before) / (time.time() - began)
os.write(terminal, b"q")
drawing = re.compile(rb"\x1b\[\?2026h.*?\x1b\[\?2026l", re.S)
sizes = sorted(map(len, drawing.findall(data))) or [0]
print(f"top {columns}x{rows}: {len(sizes)} synchronized drawings in {seconds} s, {sizes[0]} to {sizes[-1]} bytes, median {sizes[len(sizes) // 2]}, "
      f"{len(drawing.sub(b'', data))} bytes beside them, {data.count(b'[2J') + data.count(b'[J')} times cleared; {100 * share:.1f} % of a core")
