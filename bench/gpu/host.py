"""How often the machine stands still under a program that only looks at the clock: then the slowest of a hundred bursts tell about
the machine, not about what is measured.
usage: host.py SECONDS PROCESSES"""
import gc
import multiprocessing
import sys
import time

LEAST_NANOS = 300_000


def watch(seconds):
    gc.disable()
    stops = []
    last = began = time.perf_counter_ns()
    while last - began < seconds * 1e9:
        now = time.perf_counter_ns()
        if now - last >= LEAST_NANOS:
            stops.append(now - last)
        last = now
    return stops


def stolen_seconds():
    """What the machine below took, of all processors together; not every one tells."""
    with open("/proc/stat") as stat:
        return int(stat.readline().split()[8]) / 100


def main(seconds, processes):
    stolen = stolen_seconds()
    with multiprocessing.Pool(processes) as pool:
        stops = sum(pool.map(watch, [seconds] * processes), [])
    stolen = stolen_seconds() - stolen
    print(f"{len(stops) / (seconds * processes):.1f} stops of 0.3 ms or more in a second, the longest {max(stops, default=0) / 1e6:.1f} ms, "
          f"{100 * sum(stops) / (1e9 * seconds * processes):.2f} % of the time; {stolen:.2f} s stolen")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
