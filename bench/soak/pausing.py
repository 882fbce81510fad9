"""A tenant's region as a tool sees it: asks for a pause, and reads how far the processes are. Needs no Java. See spec/region.abi."""
import ctypes
import glob
import mmap
import os
import struct
import time

RUN, HOLD, RELEASE, VACATE = range(4)
WORDS = ("run", "hold", "release", "vacate")
LIMITS, COMMAND, PREPARED, MAPPED, ROOM = 1024, 1024 + 656, 1024 + 680, 1024 + 688, 1024 + 712
SLOT, SLOTS, SLOT_BYTES, SLOT_ANSWER, SLOT_STORED = 24576, 512, 128, 64, 88
ACCOUNT, ACCOUNT_BYTES = 90112, 128
PAUSE, PAUSE_BYTES = 2326528, 256
FIELDS = "attended refused step_releases step_nanos total moved away staying reservoir out_bytes out_nanos back_bytes back_nanos paused_nanos since".split()
STEP_ROOM = 8
FUTEX, FUTEX_WAKE = 202, 1
libc = ctypes.CDLL(None, use_errno=True)


class Tenant:
    def __init__(self, path):
        self.file = open(path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), 0)
        self.number = struct.unpack_from("<Q", self.map, COMMAND)[0] >> 8

    def wake(self):
        word = ctypes.c_uint32.from_buffer(self.map, COMMAND)
        libc.syscall(FUTEX, ctypes.byref(word), FUTEX_WAKE, 0x7fffffff, None, None, 0)
        del word

    def promise(self):
        """Says that there is room to restore what is stored. Whoever calls it has looked, or has the GPU alone."""
        struct.pack_into("<Q", self.map, ROOM, time.monotonic_ns())
        self.wake()

    def ask(self, depth, room=True):
        if room and depth != VACATE:
            self.promise()
        self.number += 1
        self.command = self.number << 8 | depth
        struct.pack_into("<Q", self.map, COMMAND, self.command)
        self.wake()
        return self.command

    def slots(self):
        return [slot for slot in range(SLOTS) if struct.unpack_from("<Q", self.map, SLOT + slot * SLOT_BYTES)[0]]

    def record(self, slot):
        record = dict(zip(FIELDS, struct.unpack_from("<15Q", self.map, PAUSE + slot * PAUSE_BYTES)))
        record["step"] = record["step_releases"] & 0xffffffff
        record["reason"] = self.map[PAUSE + slot * PAUSE_BYTES + 120:PAUSE + slot * PAUSE_BYTES + 240].split(b"\0")[0].decode(errors="replace")
        record["stored"] = struct.unpack_from("<Q", self.map, SLOT + slot * SLOT_BYTES + SLOT_STORED)[0]
        record["answer"] = struct.unpack_from("<Q", self.map, SLOT + slot * SLOT_BYTES + SLOT_ANSWER)[0]
        return record

    def records(self):
        return [record for record in map(self.record, self.slots()) if record["attended"]]

    def charged(self, gpu=0):
        return sum(struct.unpack_from("<Q", self.map, ACCOUNT + (slot * 16 + gpu) * ACCOUNT_BYTES)[0] for slot in self.slots())

    def wait(self, seconds=30.0):
        """Seconds until all processes have done it; raises what they refuse."""
        began = time.monotonic()
        while True:
            records = self.records()
            if any(record["step"] == STEP_ROOM and record["stored"] for record in records) and self.command & 255 != VACATE:
                self.promise()
            for record in records:
                if record["refused"] == self.command:
                    raise RuntimeError("refused: " + record["reason"])
            if all(record["answer"] == self.command for record in records):
                return time.monotonic() - began
            if time.monotonic() - began > seconds:
                raise TimeoutError(f"command {self.command:x} after {seconds} s: {records}")
            time.sleep(0.0002)


def find(folder, seconds=20.0):
    """The first tenant of a runtime directory that has a process with a context."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for path in glob.glob(os.path.join(folder, "*.region")):
            tenant = Tenant(path)
            if tenant.records():
                return tenant
        time.sleep(0.01)
    raise TimeoutError("no process with a context in " + folder)
