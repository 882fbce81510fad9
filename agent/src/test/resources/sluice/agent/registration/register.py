# A process that registers, tries to change what it got, says what came of it, and lives until its input ends.
import array, fcntl, mmap, os, socket, sys

def register(path, request):
    with socket.socket(socket.AF_UNIX) as agent:
        agent.settimeout(10)
        agent.connect(path)
        agent.sendall(request.encode())
        text, descriptors = b"", []
        while not text.endswith(b"\n"):
            some, control, _, _ = agent.recvmsg(256, socket.CMSG_SPACE(16 * 4))
            if not some:
                break
            text += b"" if control else some
            for _, _, data in control:
                got = array.array("i")
                got.frombytes(data)
                descriptors += got
        return text.decode().strip(), descriptors

def attempt(name, action):
    try:
        action()
        print(name, "worked")
    except (OSError, ValueError):
        print(name, "failed")

line, descriptors = register(sys.argv[1], sys.argv[2] + "\n")
print(" ".join(line.split(" ")[:2]) if line.startswith("ok ") else line)
if len(descriptors) == 2:
    limits, ledger = descriptors
    attempt("map-limits", lambda: mmap.mmap(limits, 4096))
    attempt("write-limits", lambda: os.pwrite(limits, b"x" * 2048, 1024))
    attempt("cut-limits", lambda: os.ftruncate(limits, 0))
    attempt("open-limits-again", lambda: os.pwrite(os.open(f"/proc/self/fd/{limits}", os.O_RDWR), b"x", 1040))
    attempt("unseal-limits", lambda: fcntl.fcntl(limits, 1033, 0))
    page = mmap.mmap(limits, 4096, prot=mmap.PROT_READ)
    print("memory", int.from_bytes(page[1040:1048], "little"))
    attempt("write-ledger", lambda: mmap.mmap(ledger, 8192, offset=4096).__setitem__(0, 1))
    sys.stdout.flush()
    for order in sys.stdin:
        if order.strip() == "memory":
            print("memory", int.from_bytes(page[1040:1048], "little"))
        elif order.strip() == "child":
            child = os.popen(f"{sys.executable} {sys.argv[0]} {sys.argv[1]} '{sys.argv[2]}' < /dev/null")
            print(child.read().splitlines()[0])
        elif order.strip() == "limits":
            line, again = register(sys.argv[1], sys.argv[2].replace("region", "limits") + "\n")
            if len(again) == 1:
                page = mmap.mmap(again[0], 4096, prot=mmap.PROT_READ)
                attempt("map-limits", lambda: mmap.mmap(again[0], 4096))
            print(" ".join(line.split(" ")[:2]) if line.startswith("ok ") else line)
        elif order.startswith("board"):
            line, board = register(sys.argv[1], order)
            try:
                os.ftruncate(board[0], os.fstat(board[0]).st_size)
                os.ftruncate(board[0], os.fstat(board[0]).st_size - 1)
                print("board", "linked" if os.fstat(board[0]).st_nlink else "loose")
            except PermissionError:
                print("board sealed")
        elif order.strip() == "grow":
            os.ftruncate(ledger, 64 << 20)
            print("grown")
        sys.stdout.flush()
