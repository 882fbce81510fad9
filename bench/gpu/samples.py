#!/usr/bin/env python3
"""NVIDIA's samples with memory that Sluice maps, beside no library at all: same exit status and output?

    bench/gpu/samples.py SAMPLES HOME OUT [NAME ...]     (SAMPLES: cuda-samples, a folder or a tar file; needs nvcc; MOST_SECONDS=270)

Builds each sample by one nvcc command for this GPU alone, so that one that does not build hinders no other. Runs each twice without Sluice, then with
ordinary and with mapped memory. The output is compared as it is where both runs without Sluice say the same, else without its numbers, which
are times mostly, else line by line in any order. Logs go to OUT; the table comes last.
"""
import collections
import ctypes
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

SAMPLES, HOME, OUT = (os.path.abspath(argument) for argument in sys.argv[1:4])
LIBRARY = next((path for path in (os.path.join(HOME, name) for name in ("lib/libsluice.so", "native/target/cmake/libsluice.so")) if os.path.exists(path)), None) or sys.exit(f"there is no lib/libsluice.so in {HOME}")
BEGAN, MOST = time.monotonic(), float(os.environ.get("MOST_SECONDS", "270"))
BUILD_SECONDS, RUN_SECONDS, AT_ONCE = float(os.environ.get("BUILD_SECONDS", "150")), 30, 8
WAYS = ("none", "none again", "ordinary", "mapped")
WORK = tempfile.mkdtemp(prefix="samples-")


def left():
    return MOST - (time.monotonic() - BEGAN)


def driver():
    """The file of the driver that programs load."""
    ctypes.CDLL("libcuda.so.1")
    return next(line.split()[-1] for line in open("/proc/self/maps") if "libcuda.so" in line)


class Toolkit:
    """What samples are built with. Libraries beside the compiler's are those of the Python packages, if there are any."""

    def __init__(self):
        self.nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        seen = subprocess.run("nvidia-smi --query-gpu=compute_cap --format=csv,noheader || true", shell=True, capture_output=True, text=True, timeout=60).stdout.split()
        self.target = "sm_" + (seen[0].replace(".", "") if seen and re.fullmatch(r"\d+\.\d", seen[0]) else "90")
        packages = [os.path.join(path, "nvidia") for path in sys.path if os.path.isdir(os.path.join(path, "nvidia"))]
        roots = ["/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib"] + [path for package in packages for path in glob.glob(package + "/*/lib")]
        self.headers = [path for package in packages for path in glob.glob(package + "/*/include")]
        self.links = os.path.join(WORK, "lib")
        os.makedirs(self.links)
        os.symlink(driver(), os.path.join(self.links, "libcuda.so"))
        self.folders = {self.links}
        for root in roots:
            for path in sorted(glob.glob(root + "/lib*.so*")):
                link = os.path.join(self.links, os.path.basename(path).split(".so")[0] + ".so")
                if not os.path.lexists(link):
                    os.symlink(path, link)
                    self.folders.add(root)

    def command(self, folder, name, text):
        sources = re.search(r"add_executable\(\s*\w+\s+([^)]*)\)", text).group(1).split()
        libraries = {{"cuda_driver": "cuda"}.get(word, word) for word in re.findall(r"CUDA::(\w+)", text)} | {"cuda"}
        extra = ["-Xcompiler", "-fopenmp"] if "OpenMP" in text else []
        extra += ["-Xcompiler", "-no-pie"] if "-no-pie" in text else []
        if libraries - {"cuda", "cudart"}:
            extra += [flag for header in self.headers for flag in ("-I", header)]
        return [self.nvcc, "-std=c++17", "-arch=" + self.target, "-rdc=true", "--extended-lambda", "-w", "-I", os.path.join(folder, "../../../Common"), "-I", "inc", "-I", ".", *extra, *sources,
                "-o", name, "-L", self.links, *("-l" + library for library in sorted(libraries - {"cudart"})), "-ldl", "-lrt", "-lpthread",
                *(flag for path in sorted(self.folders - {self.links}) for flag in ("-Xlinker", "-rpath=" + path))]

    def build(self, folder):
        """None: it was built; else the log of what failed."""
        name, text = os.path.basename(folder), open(os.path.join(folder, "CMakeLists.txt"), errors="replace").read()
        kernel = re.search(r"CUDA_KERNEL_SOURCE \"\$\{CMAKE_CURRENT_SOURCE_DIR\}/([^\"]+)\"", text)
        code = re.search(r"CUDA_(FATBIN|PTX)_FILE \"\$\{CMAKE_CURRENT_BINARY_DIR\}/([^\"]+)\"", text)
        commands = [self.command(folder, name, text)]
        if kernel and code:
            flags = ["-fatbin", "-arch=" + self.target] if code.group(1) == "FATBIN" else ["-ptx"]
            commands.append([self.nvcc, *flags, "-w", "-I", "../../../Common", "-o", code.group(2), kernel.group(1)])
        for command in commands:
            try:
                done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                      timeout=max(1, BUILD_SECONDS - (time.monotonic() - BEGAN)))
            except subprocess.TimeoutExpired:
                return f"{name}: no time left to build it"
            if done.returncode:
                return f"{name}: {' '.join(command)}\n{done.stdout}"
        return None


def unpack():
    tree = os.path.join(WORK, "tree")
    if os.path.isdir(SAMPLES):
        shutil.copytree(SAMPLES, tree, symlinks=True)
    else:
        os.makedirs(tree)
        subprocess.run(["tar", "xf", SAMPLES, "-C", tree, "--strip-components=1", "--no-same-owner"], check=True, timeout=60)
    chosen = set(sys.argv[4:])
    found = sorted(os.path.dirname(path) for path in glob.glob(tree + "/Samples/*/*/CMakeLists.txt"))
    return [folder for folder in found if not chosen or os.path.basename(folder) in chosen]


def run(folder, way):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SLUICE_") and key != "LD_PRELOAD"}
    environment["OMP_NUM_THREADS"] = "4"
    runtime = tempfile.mkdtemp(prefix="run-", dir=WORK)
    if not way.startswith("none"):
        environment.update(LD_PRELOAD=LIBRARY, SLUICE_MEMORY="130g", SLUICE_RUNTIME_DIR=runtime, SLUICE_MAPPED=str(int(way == "mapped")), SLUICE_ON_ERROR="fail")
    began = time.monotonic()
    process = subprocess.Popen(["./" + os.path.basename(folder)], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, errors="replace", start_new_session=True)
    try:
        text, status = process.communicate(timeout=RUN_SECONDS)[0], process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        text, status = process.communicate()[0], "time"
    shutil.rmtree(runtime, ignore_errors=True)
    return status, text, time.monotonic() - began


def lines(text, numbers):
    """The output without Sluice's own lines, the numbers of processes, and, if asked, all numbers."""
    kept = [line for line in text.splitlines() if line.strip() and not line.startswith("sluice:")]
    return kept if numbers else [" ".join(re.sub(r"0x[0-9a-fA-F]+|[-+]?\d*\.?\d+(e[-+]?\d+)?|\b(nan|inf)\b", "#", line).split()) for line in kept]


def compare(results):
    """For each way under Sluice: how closely its output is that of no library, or what differs."""
    (status, text, _), (again, other, _) = results["none"], results["none again"]
    if status != again or status == "time":
        return {way: f"unsteady: {status}, {again} without Sluice" for way in WAYS[2:]}
    said = {}
    for way in WAYS[2:]:
        its, its_text, _ = results[way]
        said[way] = f"status {its}, not {status}" if its != status else "output"
        if its == status:
            for degree, form in (("exact", lambda t: lines(t, True)), ("but for numbers", lambda t: lines(t, False)), ("in any order", lambda t: sorted(set(lines(t, False))))):
                if form(text) == form(other):
                    said[way] = degree if form(its_text) == form(text) else "output"
                    break
    return said


def check(folder):
    if left() < RUN_SECONDS:
        return os.path.basename(folder), None, {}
    results = {way: run(folder, way) for way in WAYS}
    said = compare(results)
    with open(os.path.join(OUT, "samples.txt"), "a") as log:
        log.write("".join(f"==== {os.path.basename(folder)}, {way}: status {status}, {seconds:.1f} s\n{text}\n" for way, (status, text, seconds) in results.items()))
    return os.path.basename(folder), results["none"][0], said


def main():
    os.makedirs(OUT, exist_ok=True)
    folders, toolkit = unpack(), Toolkit()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = {folder: log for folder, log in zip(folders, pool.map(toolkit.build, folders)) if log}
    with open(os.path.join(OUT, "samples-build.txt"), "w") as log:
        log.write("\n\n".join(failed.values()))
    print(f"{len(folders) - len(failed)} of {len(folders)} samples built for {toolkit.target} in {time.monotonic() - BEGAN:.0f} s", flush=True)
    if os.environ.get("BUILD_ONLY"):
        print("not built: " + " ".join(os.path.basename(folder) for folder in failed))
        return 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        rows = list(pool.map(check, [folder for folder in folders if folder not in failed]))
    late = [name for name, status, _ in rows if status is None]
    rows = [row for row in rows if row[1] is not None]
    same = ("exact", "but for numbers", "in any order")
    print(f"run in {time.monotonic() - BEGAN:.0f} s\n")
    print("| memory | programs | status 0 without Sluice | same: exact | but for numbers | in any order | others |\n|---|---:|---:|---:|---:|---:|---|")
    for way in WAYS[2:]:
        degrees = collections.Counter(said[way] for _, _, said in rows)
        others = [f"{name}: {said[way]}" for name, _, said in rows if said[way] not in same]
        print(f"| {way} | {len(rows)} | {sum(row[1] == 0 for row in rows)} | {' | '.join(str(degrees[degree]) for degree in same)} | {'; '.join(others) or 'none'} |")
    print(f"not built: {' '.join(os.path.basename(folder) for folder in failed) or 'none'}")
    print(f"not 0 without Sluice: {' '.join(f'{name} ({status})' for name, status, _ in rows if status != 0) or 'none'}")
    print(f"no time left for: {' '.join(late) or 'none'}")
    return 0


try:
    sys.exit(main())
finally:
    shutil.rmtree(WORK, ignore_errors=True)
