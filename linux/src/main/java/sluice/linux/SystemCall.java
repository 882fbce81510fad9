package sluice.linux;

/// System calls by their numbers on x86-64 and on 64-bit ARM.
public enum SystemCall {
    READ(0, 63),
    CLOSE(3, 57),
    LSEEK(8, 62),
    MMAP(9, 222),
    MUNMAP(11, 215),
    RT_SIGPROCMASK(14, 135),
    MADVISE(28, 233),
    EXECVE(59, 221),
    KILL(62, 129),
    FCNTL(72, 25),
    FLOCK(73, 32),
    FTRUNCATE(77, 46),
    FCHMOD(91, 52),
    FCHOWN(93, 55),
    STATFS(137, 43),
    GETXATTR(191, 8),
    FUTEX(202, 98),
    GETDENTS64(217, 61),
    OPENAT(257, 56),
    MKDIRAT(258, 34),
    UNLINKAT(263, 35),
    LINKAT(265, 37),
    FACCESSAT(269, 48),
    PPOLL(271, 73),
    UTIMENSAT(280, 88),
    FALLOCATE(285, 47),
    RENAMEAT2(316, 276),
    MEMFD_CREATE(319, 279),
    STATX(332, 291),
    PIDFD_SEND_SIGNAL(424, 424),
    PIDFD_OPEN(434, 434);

    final long number;

    SystemCall(long x86, long arm) {
        number = Processor.IS_ARM ? arm : x86;
    }
}
