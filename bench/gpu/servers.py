"""Processes that do what they are told, one at a time, for the scripts beside this one; they start one after the other.

A worker writes objects of JSON to its standard output: {"imported": …} when its framework is loaded, {"ready": …} when it is warm, then for
each line that it reads {"worked": …} when the GPU is free again, if that is before its answer is, and the answer. What it
still has to do then needs only a processor, so another one can work meanwhile; so can `sluice set`, for one that waits.
"""
import json
import os
import queue
import subprocess
import sys
import threading
import time

PATIENCE = 45
START_PATIENCE = 120


def speaker():
    """For a worker: writes an object; what its libraries print is none."""
    answers = os.fdopen(os.dup(1), "w")
    return lambda **values: print(json.dumps(values), file=answers, flush=True)


class Server:
    def __init__(self, output, sluice, name, options, script, *arguments):
        self.output, self.sluice, self.name, self.options = output, sluice, name, options
        self.command = [sys.executable, os.path.abspath(script), "serve", *arguments]
        self.process = self.failed = self.limits = None
        self.collect = lambda: None  # takes the answer that is still to come
        self.lines = queue.Queue()

    def start(self):
        behind = [self.sluice, "run", "--name", self.name, *self.options, "--"] if self.options else []
        with open(os.path.join(self.output, self.name + ".log"), "w") as log:
            self.process = subprocess.Popen(behind + self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self.lines.put(json.loads(line))
        self.lines.put({"error": "the process ended"})

    def tell(self, *words):
        if not self.failed:
            try:
                self.process.stdin.write(" ".join(map(str, words)) + "\n")
                self.process.stdin.flush()
            except OSError as gone:
                self.fail(str(gone))

    def answer(self, patience=PATIENCE):
        if self.failed:
            return {"error": self.failed}
        try:
            answer = self.lines.get(timeout=patience)
        except queue.Empty:
            answer = {"error": f"no answer within {patience:.0f} s"}
            self.fail(answer["error"])
        if answer.get("error") == "the process ended":
            self.fail("the process ended")
        return answer

    def ask(self, *words):
        self.tell(*words)
        answer = self.answer()
        return self.answer() if "worked" in answer else answer

    def limit(self, *options):
        """Other limits for what comes next."""
        if not self.failed and options and options != self.limits:
            done = subprocess.run([self.sluice, "set", self.name, *options], capture_output=True, text=True, check=False)
            if done.returncode:
                self.fail("sluice set: " + (done.stderr or done.stdout).strip())
            self.limits = options

    def fail(self, why):
        self.failed = why
        self.process.kill()

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()


def start(servers):
    """Each when the one before it has loaded its framework: a disk that is read from ten places at once takes longer than one after the other."""
    began = time.monotonic()
    waiting = []
    for server in servers:
        server.start()
        if "imported" in server.answer(START_PATIENCE):
            waiting.append(server)
    for server in waiting:
        server.answer(START_PATIENCE)
    for server in servers:
        if server.failed:
            print(f"{server.name}: {server.failed}", flush=True)
    print(f"{len(servers)} processes ready after {time.monotonic() - began:.1f} s", flush=True)


def work_through(jobs, may_begin):
    """Jobs are (server, limits, words, take): while one has the GPU, the next one's limits are set and its last answer is taken."""

    def prepare(job):
        job[0].collect()
        job[0].limit(*job[1])

    for at, (server, limits, words, take) in enumerate(jobs):
        if at == 0 or jobs[at - 1][0] is server:
            prepare(jobs[at])
        if not may_begin():
            break
        server.tell(*words)
        if at + 1 < len(jobs) and jobs[at + 1][0] is not server:
            prepare(jobs[at + 1])
        answer = server.answer()
        if "worked" in answer:
            server.collect = collector(server, take)
        else:
            take(answer)
    for server in {id(job[0]): job[0] for job in jobs}.values():
        server.collect()


def collector(server, take):
    def collect():
        server.collect = lambda: None
        take(server.answer())

    return collect
