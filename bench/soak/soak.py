#!/usr/bin/env python3
"""Soak: rounds of storm, the random program, against the driver's truth, for as long as you like.

    bench/soak/soak.py --seconds 60                    # on the simulated GPUs of this checkout
    bench/soak/soak.py --minutes 60 --seed 100         # the long one
    bench/soak/soak.py --minutes 8 --gpu --home DIR    # on a real GPU, with a distribution or a checkout in DIR
    bench/soak/soak.py --seconds 70 --gpu --diagnose   # each kind of round once, and two that explain what the driver takes

Most rounds are processes of one tenant with stream-ordered memory on two GPUs, SIGKILL, SIGSTOP and changing limits; others use all
ways to take memory, judge every refusal, or run without a quota. Each round prints its seed and the command that repeats it.
The exit status is 0 when everything held in every round, else 1.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

POOLS = "plain,async,pool,orphan,launch,absurd"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--round", type=float, default=60, help="seconds of one round (60)")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 1000000, help="of the first round; the next ones follow")
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--gpus", type=int, default=0, help="GPUs (2; 1 on a real machine)")
    parser.add_argument("--quota", default="", help="of the tenant on each GPU (4g; 16g on a real GPU, where a context takes 0.5)")
    parser.add_argument("--slack", default="", help="by which the ledger may be wrong at rest (0; 64m on a real GPU)")
    parser.add_argument("--gpu", action="store_true", help="the real driver, instead of the simulated one")
    parser.add_argument("--home", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    parser.add_argument("--most", type=float, default=0, help="seconds after which a round that goes on is killed, so that there is a table in any case")
    parser.add_argument("--diagnose", action="store_true", help="each kind of round once; then small without a judge, and calls of which the driver took more than foreseen")
    parser.add_argument("--only", default="", help="rounds of this kind alone: pools, all, judged, unlimited, small")
    parser.add_argument("--unlimited-by", default="SLUICE_COMPUTE=100%", help="what the library is loaded for where there is no quota")
    options = parser.parse_args()
    options.total = options.seconds + options.minutes * 60 or 60
    options.gpus = options.gpus or (1 if options.gpu else 2)
    options.quota = options.quota or ("16g" if options.gpu else "4g")
    options.end = time.time() + options.most if options.most else None
    options.slack = options.slack or ("64m" if options.gpu else "0")
    return options


def parts(home):
    """storm, the library and the simulated driver, in a distribution or in a checkout."""
    for storm, library, sim in (("lib/test/storm", "lib/libsluice.so", "lib/sim"),
                                ("native/target/cmake/test/storm", "native/target/cmake/libsluice.so", "sim/target/cmake")):
        if os.path.exists(os.path.join(home, storm)):
            return [os.path.abspath(os.path.join(home, part)) for part in (storm, library, sim)]
    sys.exit(f"there is no storm in {home}; build with: mvn -pl codegen,native,sim package -DskipTests")


def kinds(options):
    """Name, options of storm and environment; the order is the diet."""
    shape = ["--gpus", str(options.gpus), "--slack", options.slack]
    many = shape + ["--processes", str(options.processes), "--quota", options.quota, "--size", "1g", "--threads", "3", "--streams", "4", "--kills", "400",
                    "--stops", "300", "--limits"]
    # A real GPU can hang when managed memory is oversubscribed, so storm takes none there, and asks for no absurd sizes without a quota.
    # The driver answers 719 when one thread sets the stack's limit while graphs run.
    ways = "-tiny,stack,managed" if options.gpu else "-tiny"
    mild = ways + (",absurd,context" if options.gpu else "")
    tiny = ["--gpus", str(options.gpus), "--slack", "8m", "--quota", "1g", "--ways", "plain,array,mipmap,module,tiny"]
    pools = ("pools", many + ["--ways", POOLS], {})
    everything = ("all", many + ["--ways", ways], {})
    small = ("small", tiny + ["--judge"], {})
    judged = ("judged", shape + ["--quota", "4g", "--judge", "--ways", mild], {})
    unlimited = ("unlimited", ["--gpus", str(options.gpus), "--size", "256m", "--threads", "4", "--processes", "2", "--ways", mild],
                 dict([options.unlimited_by.split("=", 1)]))
    alone = ("small-alone", tiny, {})  # nothing is held past Sluice: every sample that is over is the library's
    explained = ("explained", tiny + ["--explain"], {})
    diet = (everything, judged, unlimited, small, alone, explained, pools) if options.diagnose else (pools, everything, pools, judged, pools, unlimited, small)
    return [kind for kind in diet if not options.only or kind[0] == options.only]


def run(options, storm, library, sim, kind, seed, seconds):
    name, words, more = kind
    directory = tempfile.mkdtemp(prefix="soak-", dir="/dev/shm")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLUICE_", "CUDA_"))}
    preload = os.path.join(directory, "libsluice.so")  # LD_PRELOAD cannot name a folder with a space
    os.symlink(library, preload)
    environment |= more | {"SLUICE_RUNTIME_DIR": directory, "LD_PRELOAD": preload}
    if not options.gpu:
        environment |= {"SLUICE_SIM_STATE": directory + "/gpu", "SLUICE_SIM_GPUS": str(options.gpus), "SLUICE_SIM_MEMORY": "64g", "LD_LIBRARY_PATH": sim}
    command = [storm, "--seed", str(seed), "--seconds", str(round(seconds)), *words]
    print(f"\n{name}: {' '.join([f'{key}={value}' for key, value in more.items()] + command)}", flush=True)
    patience = seconds + 300
    if options.end:
        patience = max(5, min(patience, options.end - time.time()))
    storming = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        output, status = storming.communicate(timeout=patience)[0], storming.returncode
    except subprocess.TimeoutExpired:
        os.killpg(storming.pid, signal.SIGKILL)  # its processes, too
        output, status = storming.communicate()[0], 124
    shutil.rmtree(directory, ignore_errors=True)
    print(output, end="", flush=True)
    return {"kind": name, "seed": seed, "status": status} | dict(re.findall(r"([a-z-]+)=([^ \n]+)", output))


COLUMNS = ["kind", "seed", "calls", "refused", "judged", "still", "late", "wrong", "odd", "alike", "samples", "missed", "torn", "in-grace", "over", "worst-percent", "worst-over-mib",
           "rests", "unequal", "worst-difference", "edges-wrong", "left", "kills", "stops", "limit-changes", "residue-most", "residue-ms-most", "unforeseen", "unforeseen-most", "truth",
           "crashes", "hangs", "verdict"]
SHORT = ["kind", "seed", "samples", "in-grace", "over", "worst-percent", "worst-over-mib", "wrong", "odd", "unequal", "edges-wrong", "left", "residue-ms-most", "unforeseen", "verdict"]


def table(columns, rows):
    print("\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(str(row.get(column, "-")) for column in columns) + " |")


def main():
    options = arguments()
    storm, library, sim = parts(options.home)
    diet = kinds(options)
    end, rows = time.time() + options.total, []
    while len(rows) < len(diet) if options.diagnose else not rows or time.time() < end - 1:
        left = end - time.time()
        seconds = max(5, min(options.round, options.total / len(diet), options.total if options.diagnose else left))
        rows.append(run(options, storm, library, sim, diet[len(rows) % len(diet)], options.seed + len(rows), seconds))
    table(COLUMNS, rows)
    table(SHORT, rows)
    broken = [row for row in rows if row["status"] != 0]
    print(f"\n{len(rows)} rounds, {len(broken)} broken" + "".join(f"\n  {row['kind']} seed {row['seed']}" for row in broken))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
