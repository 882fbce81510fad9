#!/usr/bin/env python3
"""CuPy's own tests with memory that Sluice maps, beside no library at all: do the same tests pass?

    bench/gpu/cupy_tests.py TESTS HOME OUT [PART ...]     (TESTS: CuPy's sources or its folder tests, a folder or a tar file; MOST_SECONDS=270)

Of each file it runs up to MOST_TESTS=250 tests, evenly picked and the same for both ways, several files at a time; PART: a part of a file's path.
Tests that end otherwise are run once more in both ways, one process each: what differs again is told. It needs CuPy and pytest, which may lie beside the
tests in a folder packages/. The table comes last.
"""
import collections
import glob
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

TESTS, HOME, OUT = (os.path.abspath(argument) for argument in sys.argv[1:4])
LIBRARY = next((path for path in (os.path.join(HOME, name) for name in ("lib/libsluice.so", "native/target/cmake/libsluice.so")) if os.path.exists(path)), None) or sys.exit(f"there is no lib/libsluice.so in {HOME}")
BEGAN, MOST = time.monotonic(), float(os.environ.get("MOST_SECONDS", "270"))
MOST_TESTS, AT_ONCE, WAYS = int(os.environ.get("MOST_TESTS", "250")), 12, ("none", "mapped")
WORK = tempfile.mkdtemp(prefix="cupy-tests-")
# What concerns memory first: if the time ends, the others are missing.
FIRST = ("cuda_tests/test_memory", "cuda_tests/", "core_tests/", "creation_tests/", "test_pinned", "math_tests/", "linalg_tests/", "random_tests/", "fft_tests/")
PLUGIN = '''import os
MOST, PATH = int(os.environ["SLUICE_MOST_TESTS"]), os.environ["SLUICE_RESULTS"]
def pytest_collection_modifyitems(config, items):
    items[:] = [item for item in items if "multi_gpu" not in item.keywords]
    if len(items) > MOST:
        items[:] = [items[i * len(items) // MOST] for i in range(MOST)]
def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        with open(PATH, "a") as file:
            file.write(report.outcome + " " + report.nodeid.replace("\\n", " ") + "\\n")
'''


def left():
    return MOST - (time.monotonic() - BEGAN)


def unpack():
    """The folder that holds cupy_tests."""
    tree = os.path.join(WORK, "tree")
    if os.path.isdir(TESTS):
        shutil.copytree(TESTS, tree)
    else:
        os.makedirs(tree)
        subprocess.run(["tar", "xf", TESTS, "-C", tree, "--no-same-owner"], check=True, timeout=60)
    found = glob.glob(tree + "/**/cupy_tests", recursive=True)
    if not found:
        sys.exit(f"there are no cupy_tests in {TESTS}")
    return os.path.dirname(found[0]), glob.glob(tree + "/**/packages", recursive=True)[:1]


def run(root, packages, way, name, wanted, seconds):
    """Outcome by test of a file, or of a list of tests."""
    results, runtime = os.path.join(WORK, f"results-{way}-{name}"), tempfile.mkdtemp(dir=WORK)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SLUICE_") and key != "LD_PRELOAD"}
    environment.update(SLUICE_RESULTS=results, SLUICE_MOST_TESTS=str(MOST_TESTS), PYTHONPATH=":".join([WORK] + packages), OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2",
                       CUPY_CACHE_DIR=os.path.join(WORK, "cache"), PYTHONDONTWRITEBYTECODE="1")
    if way == "mapped":
        environment.update(LD_PRELOAD=LIBRARY, SLUICE_MEMORY="130g", SLUICE_RUNTIME_DIR=runtime, SLUICE_MAPPED="1", SLUICE_ON_ERROR="fail")
    with open(os.path.join(WORK, f"log-{way}-{name}"), "w") as log:
        process = subprocess.Popen([sys.executable, "-m", "pytest", "-q", "-p", "picked_tests", "-p", "no:cacheprovider", "-o", "xfail_strict=true", "--tb=line", "-W", "ignore", "--no-header",
                                    *wanted], cwd=root, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = process.wait(max(1, seconds))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            status = process.wait()
    shutil.rmtree(runtime, ignore_errors=True)
    outcomes = collections.OrderedDict()
    for line in open(results, errors="replace") if os.path.exists(results) else []:
        outcome, test = line.rstrip("\n").split(" ", 1)
        outcomes[test] = outcome
    return status, outcomes


def all_files(root, packages, way, files, until):
    def one(pair):
        number, path = pair
        return run(root, packages, way, f"{number}", [path], until - time.monotonic()) if time.monotonic() < until - 5 else (None, {})
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(one, enumerate(files)))


def again(root, packages, differing):
    """Each way once more, for what differed."""
    tests = differing[:200]
    found = [run(root, packages, way, "again", tests, min(60, left() - 5))[1] for way in WAYS]
    return [test for test in tests if found[0].get(test) != found[1].get(test)]


def main():
    os.makedirs(OUT, exist_ok=True)
    root, packages = unpack()
    if importlib.util.find_spec("pytest"):
        packages = []
    sys.path[:0] = packages
    for needed in ("pytest", "cupy"):
        if not importlib.util.find_spec(needed):
            print(f"CuPy's tests: skipped, this python3 has no {needed}")
            return 0
    with open(os.path.join(WORK, "picked_tests.py"), "w") as plugin:
        plugin.write(PLUGIN)
    files = sorted(glob.glob(root + "/cupy*_tests/**/test_*.py", recursive=True))
    files = [os.path.relpath(path, root) for path in files if not sys.argv[4:] or any(word in path for word in sys.argv[4:])]
    files.sort(key=lambda path: (next((at for at, word in enumerate(FIRST) if word in path), len(FIRST)), path))
    ends, found = {}, {}
    for way, share in zip(WAYS, (0.45, 0.8)):
        began = time.monotonic()
        ran = all_files(root, packages, way, files, BEGAN + MOST * share)
        found[way] = {test: outcome for _, outcomes in ran for test, outcome in outcomes.items()}
        ends[way] = collections.Counter(found[way].values())
        crashed = [f"{path} (status {status})" for path, (status, _) in zip(files, ran) if status is not None and (status < 0 or status > 5)]
        print(f"{way}: {len(found[way])} tests of {sum(status is not None for status, _ in ran)} of {len(files)} files in {time.monotonic() - began:.0f} s; ended by signal or time: "
              f"{', '.join(crashed) or 'none'}", flush=True)
    both = [test for test in found["none"] if test in found["mapped"]]
    differing = [test for test in both if found["none"][test] != found["mapped"][test]]
    real = again(root, packages, differing) if differing else []
    with open(os.path.join(OUT, "cupy-tests.txt"), "w") as log:
        for test in differing:
            log.write(f"{'again' if test in real else 'once'}: none {found['none'][test]}, mapped {found['mapped'][test]}: {test}\n")
        for path in sorted(glob.glob(WORK + "/log-*-again")) + (sorted(glob.glob(WORK + "/log-*-[0-3]")) if not both else []):
            log.write(f"==== {os.path.basename(path)}\n" + open(path, errors="replace").read()[-20000:])
    print("\n| CuPy's tests | run | passed | failed | skipped |\n|---|---:|---:|---:|---:|")
    for way in WAYS:
        print(f"| {way} | {len(found[way])} | {ends[way]['passed']} | {ends[way]['failed']} | {ends[way]['skipped']} |")
    print(f"run in both ways: {len(both)}; another outcome: {len(differing)}; another outcome again: {len(real)} {'; '.join(real[:8])}")
    return 0


try:
    sys.exit(main())
finally:
    shutil.rmtree(WORK, ignore_errors=True)
