#!/usr/bin/env python3
"""Honest tenants, with the library that checks itself, beside a tenant that writes nonsense; on simulated GPUs.

    bench/soak/hostile.py --seconds 60 --seed 7

Processes of the hostile tenant's own region must survive; those of another region on the same GPUs must keep all that is promised.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile


def start(program, words, environment, log):
    return subprocess.Popen([program, *words], env=environment, stdout=log, stderr=subprocess.STDOUT)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--places", default="", help="as of native/test/programs/hostile.c: which records are written to (all)")
    parser.add_argument("--home", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    options = parser.parse_args()
    build, sim = (os.path.abspath(os.path.join(options.home, part)) for part in ("native/target/cmake", "sim/target/cmake"))
    directory = tempfile.mkdtemp(prefix="hostile-", dir="/dev/shm")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLUICE_", "CUDA_"))} | {
        "SLUICE_RUNTIME_DIR": directory, "SLUICE_SIM_STATE": directory + "/gpu", "SLUICE_SIM_GPUS": "2", "SLUICE_SIM_MEMORY": "16g",
        "LD_LIBRARY_PATH": build + "/checked:" + sim, "SLUICE_DRIVER": sim + "/libcuda.so.1", "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1"}
    shape = ["--seed", str(options.seed), "--seconds", str(options.seconds), "--quota", "1g", "--gpus", "2", "--threads", "2", "--processes", "2", "--kills", "700"]
    storm, ok = build + "/test/storm_checked", True
    with tempfile.TemporaryFile("w+") as mates_log, tempfile.TemporaryFile("w+") as others_log:
        honest = {
            "mates": (start(storm, shape + ["--survive", "--longest", "10000"], environment | {"SLUICE_TENANT": "mates", "SLUICE_COMPUTE": "50%"}, mates_log),
                      mates_log),
            "others": (start(storm, shape + ["--ways", "plain,vmm,array,launch", "--longest", "5000"],
                             environment | {"SLUICE_TENANT": "others", "SLUICE_WEIGHT": "2"}, others_log), others_log)}
        subprocess.run([build + "/test/hostile", "--seed", str(options.seed), "--seconds", str(options.seconds - 1), "--tenant", "mates", "--places",
                        options.places], env=environment, check=True)
        for name, (process, log) in honest.items():
            status = process.wait()
            ok = ok and status == 0
            log.seek(0)
            print(f"--- {name}: exit status {status}\n{log.read()[:8000]}")
    shutil.rmtree(directory, ignore_errors=True)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
