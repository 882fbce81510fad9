# The library loads on glibc 2.17 and later, needs nothing but the C library, and exports what the specs name.
# Usage: cmake -DLIBRARY=... -DOBJDUMP=... -DEXPORTS=... -P symbols_test.cmake
execute_process(COMMAND ${OBJDUMP} -p ${LIBRARY} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OBJDUMP} -T ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)

string(REGEX MATCHALL "NEEDED[ ]+[^\n]+" needed "${headers}")
if(NOT "${needed}" MATCHES "^NEEDED[ ]+libc\\.so\\.6$")
  message(FATAL_ERROR "needs more than libc.so.6: ${needed}")
endif()

string(REGEX MATCHALL "GLIBC_[A-Z0-9.]+" versions "${headers};${symbols}")
list(REMOVE_DUPLICATES versions)
foreach(version ${versions})
  string(REPLACE "GLIBC_" "" number ${version})
  if(number VERSION_GREATER 2.17 OR NOT number MATCHES "^[0-9.]+$")
    string(REGEX MATCHALL "[^\n]*${version}[^\n]*" lines "${symbols}")
    message(FATAL_ERROR "${version} is newer than GLIBC_2.17; use an older function or a raw system call for: ${lines}")
  endif()
endforeach()

# Functions in which a thread can be cancelled; see os/uncancelled.c.
foreach(point accept close connect creat fcntl fdatasync fsync getrandom lockf msync nanosleep clock_nanosleep open openat pause poll
    ppoll posix_fallocate pread pread64 preadv pselect pthread_cond_timedwait pthread_cond_wait pthread_join pthread_testcancel pwrite
    pwrite64 pwritev read readv recv recvfrom recvmsg select sem_timedwait sem_wait send sendmsg sendto sigsuspend sigtimedwait sigwait
    sigwaitinfo sleep system usleep wait waitpid write writev)
  if(symbols MATCHES "\\*UND\\*[^\n]* \\(?(GLIBC_[0-9.]+)?\\)? *${point}\n")
    message(FATAL_ERROR "a thread can be cancelled in ${point}: add it to os/uncancelled.c")
  endif()
endforeach()

file(STRINGS ${EXPORTS} expected REGEX "^ +[A-Za-z_][A-Za-z0-9_]*;")
foreach(line ${expected})
  string(REGEX REPLACE "[ ;]" "" name "${line}")
  if(NOT symbols MATCHES "[ \t]${name}\n")
    message(FATAL_ERROR "does not export ${name}")
  endif()
endforeach()
list(LENGTH expected count)
message(STATUS "${count} exports, versions ${versions}")
