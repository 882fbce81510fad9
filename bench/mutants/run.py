#!/usr/bin/env python3
"""Applies mutants to a copy of the tree, one at a time, and tells which test of the ordinary suite kills each. See README.md."""
import argparse
import collections
import fcntl
import fnmatch
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MARK = "SLUICE_MUTANT_RUN"
NOT_TESTED = {"codegen", "native", "sim", "dist", "it"}  # modules that are no step of their own for a mutant in Java
SECONDS = {"build": 1200, "ctest": 900, "tests": 1200, "it": 3600}
FAILED_TEST = re.compile(r"^\[ERROR\] (.+?) -- Time elapsed:.*<<< (?:FAILURE|ERROR)!")
FAILED_CLASS = re.compile(r"^\[ERROR\] Tests run: .*<<< (?:FAILURE|ERROR)! -- in (\S+)")
FAILED_CTEST = re.compile(r"^\s*\d+ - (\S+) \(")

Mutant = collections.namedtuple("Mutant", "name promise file before after")
Ended = collections.namedtuple("Ended", "status killers lines")  # status: ok, failed, compile, time


def read_mutant(path):
    head, rest = open(path, encoding="utf-8").read().split("\n--- before\n", 1)
    before, after = rest.split("\n--- after\n", 1)
    facts = dict(line.split(": ", 1) for line in head.splitlines())
    name = os.path.relpath(path, HERE)[:-len(".mutant")]
    return Mutant(name, facts["promise"], facts["file"].strip(), before, after[:-1] if after.endswith("\n") else after)


def chosen(globs):
    paths = sorted(glob.glob(os.path.join(HERE, "*", "*.mutant")))
    mutants = [read_mutant(path) for path in paths]
    return [mutant for mutant in mutants
            if any(fnmatch.fnmatch(word, each) for each in globs or ["new/*"] for word in (mutant.name, mutant.name.split("/")[1]))]


class Tree:
    """A copy of HEAD that is built and tested."""

    def __init__(self, work, times, log):
        self.path = os.path.join(work, "tree")
        self.mutated = os.path.join(self.path, ".mutated")
        self.times = times
        self.log = log
        self.bin = os.path.join(work, "bin")
        self.commit = subprocess.check_output(["git", "-C", ROOT, "rev-parse", "HEAD"], text=True).strip()

    def make(self):
        made = os.path.join(self.path, ".commit")
        if not os.path.exists(made) or not self.update(open(made).read()):
            shutil.rmtree(self.path, ignore_errors=True)
            os.makedirs(self.path)
            self.extract([])
        # Maven runs ctest in every build that tests; where a step is about something else, this one does nothing.
        os.makedirs(self.bin, exist_ok=True)
        with open(os.path.join(self.bin, "ctest"), "w") as stub:
            stub.write("#!/bin/sh\nexit 0\n")
        os.chmod(stub.name, 0o755)
        with open(made, "w") as file:
            file.write(self.commit)

    def update(self, old):
        """Brings a tree of another commit up to date, with what a run that was killed left mutated; False when it must be made anew."""
        diff = ["git", "-C", ROOT, "diff", "--no-renames", "--name-only", old, "HEAD"]
        changed = subprocess.run(diff, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        deleted = subprocess.run(diff + ["--diff-filter=D"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if changed.returncode != 0 or any(not line.startswith("bench/") for line in deleted.stdout.splitlines()):
            return False
        names = [line for line in changed.stdout.splitlines() if line not in deleted.stdout.splitlines()]
        if os.path.exists(self.mutated):
            names.append(open(self.mutated).read())
            os.remove(self.mutated)
        if names:
            self.extract(names)
        return True

    def extract(self, names):
        """Files get the time of now, so that the build sees them as changed."""
        archive = subprocess.Popen(["git", "-C", ROOT, "archive", "HEAD", "--", *names], stdout=subprocess.PIPE)
        unpacked = subprocess.call(["tar", "xm", "-C", self.path], stdin=archive.stdout)
        if archive.wait() != 0 or unpacked != 0:
            sys.exit("run.py: git archive failed")

    def find(self, file):
        pattern = file if "/" in file else os.path.join("*", "src", "main", "**", file)
        found = glob.glob(os.path.join(self.path, pattern), recursive=True)
        if len(found) != 1:
            raise ValueError("%s: %d files of this name" % (file, len(found)))
        return found[0]

    def check(self, mutant):
        path = self.find(mutant.file)
        text = open(path, encoding="utf-8").read()
        count = text.count(mutant.before)
        if count != 1 or mutant.before == mutant.after:
            raise ValueError("%s: the text 'before' is there %d times" % (mutant.file, count))
        return path, text

    def write(self, path, text, mutated):
        if mutated:
            with open(self.mutated, "w") as mark:
                mark.write(os.path.relpath(path, self.path))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        if not mutated:
            os.remove(self.mutated)

    def module(self, path):
        return os.path.relpath(path, self.path).split(os.sep)[0]

    def needs(self):
        """Module -> modules of ours that it names in its pom."""
        space = "{http://maven.apache.org/POM/4.0.0}"
        needs = {}
        for pom in glob.glob(os.path.join(self.path, "*", "pom.xml")):
            names = [each.findtext(space + "artifactId") for each in xml.parse(pom).iter(space + "dependency")]
            needs[self.module(pom)] = {name[len("sluice-"):] for name in names if name.startswith("sluice-")}
        return needs

    def dependents(self, module):
        needs, found = self.needs(), {module}
        while True:
            more = {each for each, named in needs.items() if named & found} - found
            if not more:
                return sorted(found - {module} - NOT_TESTED)
            found |= more

    def tests(self, modules):
        """What -Dtest says for the tests of some modules: with -am Maven would run those of all that they need, too."""
        packages = set()
        for module in modules:
            java = os.path.join(self.path, module, "src", "test", "java")
            for folder, _, files in os.walk(java):
                if any(file.endswith("Test.java") for file in files):
                    packages.add(os.path.relpath(folder, java) + "/*Test")
        return ",".join(sorted(packages))

    def maven(self, kind, modules, goal, *options):
        command = ["mvn", "-o", "-B", "-ntp", "-Dstyle.color=never", "-pl", modules, goal, *options]
        ended = self.run(kind, command)
        compiles = any("COMPILATION ERROR" in line or "(build) on project sluice-native" in line for line in ended.lines)
        return ended._replace(status="compile") if ended.status == "failed" and compiles else ended

    def run(self, kind, command, folder="."):
        """Runs until the end, the time limit, or the first class of tests that failed and is not tried again."""
        environment = dict(os.environ, PATH=self.bin + ":" + os.environ["PATH"], **{MARK: self.path})
        if command[0] == "ctest":
            environment["PATH"] = os.environ["PATH"]
        process = subprocess.Popen(["nice", *command], cwd=os.path.join(self.path, folder), env=environment, text=True, errors="replace",
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        late, seen = threading.Event(), Seen(kind == "ctest", self.log, lambda: threading.Timer(2, end, [process]).start())
        timer = threading.Timer(SECONDS[kind] * self.times, lambda: (late.set(), end(process)))
        reader = threading.Thread(target=lambda: [seen.line(line) for line in process.stdout], daemon=True)
        timer.start()
        reader.start()
        status = process.wait()
        timer.cancel()
        sweep(self.path)  # who was left may hold the pipe open
        reader.join(30)
        return Ended("time" if late.is_set() else "failed" if seen.stopped or status != 0 else "ok", seen.killers or seen.classes, list(seen.lines))


class Seen:
    """What the output of a step tells. Classes that failed in the execution timed-tests are tried again, so only its end counts."""

    def __init__(self, of_ctest, log, stop):
        self.of_ctest, self.log, self.stop = of_ctest, log, stop
        self.killers, self.classes, self.lines = [], [], collections.deque(maxlen=400)
        self.retried = self.stopped = False

    def line(self, line):
        self.log.write(line)
        self.log.flush()
        self.lines.append(line)
        if line.startswith("[INFO] --- "):
            self.retried = "(timed-tests)" in line
        failed = FAILED_CLASS.match(line)
        match = FAILED_TEST.match(line) or (FAILED_CTEST.match(line) if self.of_ctest else None)
        if match:
            self.killers.append(match.group(1))
        if failed:
            self.classes.append(failed.group(1))
        if failed and not self.retried and not self.stopped:
            self.stopped = True
            self.stop()  # after a moment: its tests are named in the next lines


def end(process):
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


def sweep(path):
    """Ends what tests that were cut short have left: processes that have our own mark in their environment."""
    mark = ("%s=%s" % (MARK, path)).encode()
    for entry in glob.glob("/proc/[0-9]*"):
        try:
            with open(entry + "/environ", "rb") as environment:
                if mark in environment.read().split(b"\0"):
                    os.kill(int(os.path.basename(entry)), signal.SIGKILL)
        except OSError:
            pass


def steps(tree, mutant, path, parts):
    """The cheapest first. Each is a name and what runs it. parts: quick, it, or both."""
    module = tree.module(path)
    only = "-Dsurefire.failIfNoSpecifiedTests=false"
    if "quick" not in parts:
        pass
    elif module == "native":
        cmake = "native/target/cmake"
        yield "build", lambda: tree.run("build", ["cmake", "--build", ".", "-j", str(os.cpu_count())], cmake)
        yield "ctest", lambda: tree.run("ctest", ["ctest", "--stop-on-failure", "--output-on-failure", "--timeout", "120"], cmake)
    else:
        for modules in ([module], tree.dependents(module)):
            if modules:
                yield "+".join(modules), lambda modules=modules: tree.maven(
                    "tests", ",".join(modules), "package", "-am", only, "-Dtest=" + tree.tests(modules))
    if "it" in parts:
        yield "it", lambda: tree.maven("it", "it", "verify", "-am", only, "-Dtest=" + tree.tests(["it"]))


def judge(tree, mutant, parts):
    """What became of a mutant, by which test."""
    path, text = tree.check(mutant)
    try:
        tree.write(path, text.replace(mutant.before, mutant.after), True)
        for name, step in steps(tree, mutant, path, parts):
            ended = step()
            if ended.status == "compile" or name == "build" and ended.status != "ok":
                return "invalid", "it does not compile"
            if ended.status == "time":
                return "killed", "%s: time limit%s" % (name, "".join(", after " + killer for killer in ended.killers[:1]))
            if ended.status == "failed" and any("The forked VM terminated" in line for line in ended.lines):
                return "killed", "%s: the tests crashed" % name
            if ended.status == "failed" and not ended.killers:
                return "broken", "%s failed, and no test; see the log" % name
            if ended.status == "failed":
                return "killed", "%s: %s" % (name, ", ".join(dict.fromkeys(ended.killers[:3])))
        return "SURVIVED", ""
    finally:
        tree.write(path, text, False)


def build(tree, quick):
    print("building the tree of %s ..." % tree.commit[:8], flush=True)
    began = time.time()
    ended = tree.maven("build", "!it,!dist" if quick else "!it", "package", "-DskipTests")
    if ended.status != "ok":
        sys.stdout.writelines(list(ended.lines)[-30:])
        sys.exit("run.py: the tree without a mutant does not build")
    print("built in %.0f s" % (time.time() - began), flush=True)


def table(results):
    width = max(len(each["mutant"]) for each in results)
    print("\n%-*s  %-8s  %6s  by" % (width, "mutant", "result", "s"))
    for each in results:
        print("%-*s  %-8s  %6.0f  %s" % (width, each["mutant"], each["result"], each["seconds"], each["by"]))
    counts = collections.Counter(each["result"] for each in results)
    valid = counts["killed"] + counts["SURVIVED"]
    print("\n%d of %d killed (%.0f %%), %d survived, %d invalid or broken" % (
        counts["killed"], valid, 100 * counts["killed"] / max(1, valid), counts["SURVIVED"], len(results) - valid))


def earlier(path, commit, arguments):
    """Results that stand. A mutant that the quick part killed is killed by the ordinary suite, too."""
    if not os.path.exists(path):
        return {}
    lines = [json.loads(line) for line in open(path) if line.strip()]
    return {each["mutant"]: each for each in lines
            if each["result"] != "broken" and (each["commit"] == commit or arguments.keep_killed and each["result"] == "killed")
            and (each["quick"] == arguments.quick or arguments.it_after_quick and each["result"] == "killed")}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("globs", nargs="*", help="names of mutants, such as '0*', 'listed/*' or '*agent*'; all of new/ if none is given")
    parser.add_argument("--quick", action="store_true", help="ctest and the tests of Java modules only, not those of it/")
    parser.add_argument("--work", help="folder for the copy of the tree, kept for the next run; else a temporary one")
    parser.add_argument("--results", default=os.path.join(ROOT, "target", "mutants.jsonl"), help="a line of JSON for each mutant is added to it")
    parser.add_argument("--resume", action="store_true", help="leaves out what the results have of this commit")
    parser.add_argument("--it-after-quick", action="store_true",
                        help="with --resume: runs only the tests of it/, for the mutants that an earlier --quick did not kill")
    parser.add_argument("--keep-killed", action="store_true", help="with --resume: counts what was killed at another commit as killed")
    parser.add_argument("--times", type=float, default=1, help="makes time limits so many times as long, on a busy machine")
    arguments = parser.parse_args()
    mutants = chosen(arguments.globs)
    if not mutants:
        sys.exit("run.py: no mutant has such a name")
    work = os.path.abspath(arguments.work) if arguments.work else tempfile.mkdtemp(prefix="sluice-mutants-")
    os.makedirs(work, exist_ok=True)
    os.makedirs(os.path.dirname(os.path.abspath(arguments.results)), exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    lock = open(os.path.join(work, "lock"), "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("run.py: another run has the folder %s; give another --work" % work)
    with open(os.path.join(work, "log"), "w") as log:
        tree = Tree(work, arguments.times, log)
        try:
            run(arguments, tree, mutants)
        finally:
            sweep(tree.path)
            if not arguments.work:
                shutil.rmtree(work, ignore_errors=True)


def run(arguments, tree, mutants):
    tree.make()
    wrong = []
    for mutant in mutants:
        try:
            tree.check(mutant)
        except ValueError as e:
            wrong.append("run.py: %s does not apply: %s" % (mutant.name, e))
    if wrong:
        sys.exit("\n".join(wrong))
    known = earlier(arguments.results, tree.commit, arguments) if arguments.resume else {}
    if any(mutant.name not in known for mutant in mutants):
        build(tree, arguments.quick)
    results = []
    for mutant in mutants:
        if mutant.name not in known:
            began = time.time()
            tree.log.write("\n=== %s\n" % mutant.name)
            result, by = judge(tree, mutant, {"quick"} if arguments.quick else {"it"} if arguments.it_after_quick else {"quick", "it"})
            known[mutant.name] = {"mutant": mutant.name, "promise": mutant.promise, "result": result, "by": by, "seconds": round(time.time() - began, 1),
                                  "commit": tree.commit, "quick": arguments.quick}
            with open(arguments.results, "a") as file:
                file.write(json.dumps(known[mutant.name]) + "\n")
            print("%s: %s %s after %.0f s" % (mutant.name, result, by and "by " + by, known[mutant.name]["seconds"]), flush=True)
        results.append(known[mutant.name])
    table(results)
    sys.exit(1 if any(each["result"] in ("invalid", "broken") for each in results) else 0)


if __name__ == "__main__":
    main()
