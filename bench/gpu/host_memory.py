#!/usr/bin/env python3
"""Which host memory is best for a reservoir: pages of the process itself, or of a file without a name (memfd), which an agent could hand over?

    bench/gpu/host_memory.py OUT [MIB [THREADS]]     (MIB=8192, THREADS=16; REPEATS=2; runs on the simulated GPU, too)

For each kind of memory: GB/s of the first touch, of the registration with the driver in blocks of 64 MiB, of copies from and to the GPU, and of the way
back to the kernel. As root it allows 2 MiB pages in memory files meanwhile (shmem_enabled) and makes 2 MiB pages for MFD_HUGETLB; it restores both. All memory is touched
once before, because pages that a virtual machine never used before are slow.
"""
import ctypes
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

OUT = sys.argv[1]
MIB = int(sys.argv[2]) if len(sys.argv) > 2 else 8192
THREADS = int(sys.argv[3]) if len(sys.argv) > 3 else 16
BLOCK, PAGE = 64 << 20, 2 << 20
HUGEPAGE, NOHUGEPAGE, POPULATE_WRITE = 14, 15, 23
SHMEM, HUGETLB = "/sys/kernel/mm/transparent_hugepage/shmem_enabled", "/proc/sys/vm/nr_hugepages"
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.memfd_create.argtypes = [ctypes.c_char_p, ctypes.c_uint]
cuda = ctypes.CDLL("libcuda.so.1")
for name in ("cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2", "cuMemHostRegister_v2", "cuMemHostUnregister"):
    getattr(cuda, name).argtypes = {"cuMemcpyDtoHAsync_v2": [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p],
                                    "cuMemcpyHtoDAsync_v2": [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p],
                                    "cuMemHostRegister_v2": [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint], "cuMemHostUnregister": [ctypes.c_void_p]}[name]
context, device_memory = ctypes.c_void_p(), ctypes.c_uint64()


def must(status, what):
    if status:
        raise OSError(f"{what}: {status}")


def write(path, text):
    try:
        with open(path, "w") as file:
            file.write(text)
        return True
    except OSError:
        return False


class Memory:
    def __init__(self, kind, size):
        self.size, self.fd = size, -1
        if kind.startswith("memfd"):
            self.fd = libc.memfd_create(b"reservoir", 5 if kind == "memfd, hugetlb" else 1)
            if self.fd < 0:
                raise OSError(ctypes.get_errno(), "memfd_create")
            os.ftruncate(self.fd, size)
        self.whole = libc.mmap(None, size + PAGE, 0, 0x4022, -1, 0)
        self.start = (self.whole + PAGE - 1) & ~(PAGE - 1)
        flags = 0x10 | (1 if self.fd >= 0 else 0x4022)
        if libc.mmap(self.start, size, 3, flags, self.fd, 0) == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), "mmap")
        if kind != "memfd, hugetlb":
            libc.madvise(self.start, size, HUGEPAGE if "2 MiB" in kind else NOHUGEPAGE)
        self.blocks = range(self.start, self.start + size, BLOCK)

    def each(self, work):
        """GB/s of some work on all blocks, in threads."""
        began = time.monotonic()
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(work, self.blocks))
        return self.size / (time.monotonic() - began) / 1e9

    def touch(self, block):
        if libc.madvise(block, BLOCK, POPULATE_WRITE):
            raise OSError(ctypes.get_errno(), "touching")

    def register(self, block):
        must(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")
        must(cuda.cuMemHostRegister_v2(block, BLOCK, 1), "cuMemHostRegister")

    def unregister(self, block):
        must(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")
        must(cuda.cuMemHostUnregister(block), "cuMemHostUnregister")

    def copy(self, out):
        began = time.monotonic()
        for block in self.blocks:
            if out:
                must(cuda.cuMemcpyDtoHAsync_v2(block, device_memory, BLOCK, None), "copy")
            else:
                must(cuda.cuMemcpyHtoDAsync_v2(device_memory, block, BLOCK, None), "copy")
        must(cuda.cuCtxSynchronize(), "cuCtxSynchronize")
        return self.size / (time.monotonic() - began) / 1e9

    def drop(self):
        began = time.monotonic()
        libc.munmap(self.whole, self.start + self.size - self.whole)
        if self.fd >= 0:
            os.close(self.fd)
        return self.size / (time.monotonic() - began) / 1e9


def measure(kind):
    memory = Memory(kind, MIB << 20)
    try:
        found = [memory.each(memory.touch), memory.each(memory.register), memory.copy(True), memory.copy(False), memory.each(memory.unregister)]
    finally:
        dropped = memory.drop()
    return found + [dropped]


def main():
    must(cuda.cuInit(0), "cuInit")
    must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), "cuDevicePrimaryCtxRetain")
    must(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    must(cuda.cuMemAlloc_v2(ctypes.byref(device_memory), ctypes.c_size_t(BLOCK)), "cuMemAlloc")
    before = {path: open(path).read() if os.path.exists(path) else "" for path in (SHMEM, HUGETLB)}
    allowed = before[SHMEM][before[SHMEM].find("[") + 1:before[SHMEM].find("]")]
    lines = [f"shmem_enabled was {allowed}; {MIB} MiB, {THREADS} threads, best of {os.environ.get('REPEATS', '2')}",
             "| memory | first touch | register | copy out | copy back | unregister | let go, GB/s |", "|---|---:|---:|---:|---:|---:|---:|"]
    try:
        memory = Memory("private, 2 MiB", MIB << 20)
        memory.each(memory.touch)
        memory.drop()
        for kind in ("private, 2 MiB", "private, 4 KiB", "memfd, 4 KiB", "memfd, 2 MiB", "memfd, hugetlb"):
            write(SHMEM, "advise" if kind == "memfd, 2 MiB" else "never")
            write(HUGETLB, str(MIB // 2 + 8) if kind == "memfd, hugetlb" else "0")
            try:
                found = [measure(kind) for _ in range(int(os.environ.get("REPEATS", "2")))]
                lines.append(f"| {kind} | " + " | ".join(f"{max(values):.1f}" for values in zip(*found)) + " |")
            except OSError as problem:
                lines.append(f"| {kind} | {problem} |||||")
            print(lines[-1], flush=True)
    finally:
        write(SHMEM, allowed)
        write(HUGETLB, before[HUGETLB].strip() or "0")
    os.makedirs(OUT, exist_ok=True)
    with open(os.path.join(OUT, "host-memory.md"), "w") as file:
        file.write("\n".join(lines) + "\n")
    print("\n" + "\n".join(lines))


main()
