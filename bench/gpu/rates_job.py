"""A job that holds device memory by the driver's calls alone: rates_job.py MIB. Prints "ready", then reads and writes one byte of each piece of
256 MiB now and then, until it is killed; "wrong" if one has changed. It needs no framework, so it runs on the simulated GPU, too."""
import ctypes
import sys
import time

PIECE = 256 << 20
cuda = ctypes.CDLL("libcuda.so.1")


def must(status, what):
    if status:
        sys.exit(f"{what}: {status}")


context = ctypes.c_void_p()
must(cuda.cuInit(0), "cuInit")
must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), "cuDevicePrimaryCtxRetain")
must(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")
left, pieces = int(sys.argv[1]) << 20, []
while left:
    address, bytes_now = ctypes.c_uint64(), min(left, PIECE)
    must(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(bytes_now)), "cuMemAlloc")
    must(cuda.cuMemsetD8_v2(address, ctypes.c_ubyte(len(pieces) % 251), ctypes.c_size_t(bytes_now)), "cuMemsetD8")
    pieces.append((address, bytes_now))
    left -= bytes_now
must(cuda.cuCtxSynchronize(), "cuCtxSynchronize")
print("ready", flush=True)
while True:
    time.sleep(0.02)
    for number, (address, bytes_now) in enumerate(pieces):
        found, at = ctypes.c_ubyte(), ctypes.c_uint64(address.value + bytes_now - 1)
        must(cuda.cuMemcpyDtoH_v2(ctypes.byref(found), at, ctypes.c_size_t(1)), "cuMemcpyDtoH")
        if found.value != number % 251:
            print(f"wrong: piece {number} has {found.value}", flush=True)
