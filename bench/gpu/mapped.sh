#!/bin/sh
# Mapped memory against ordinary memory and no library: NVIDIA's samples, CuPy's tests, random faults, the cost of a training that waits for the host,
# host memory of a file against private memory.
# usage: mapped.sh HOME OUT [samples cupy faults training memfd]     HOME: a distribution; SAMPLES, CUPY_TESTS: tar files or folders of their sources
# All parts take at most 600 s; each has its own limit (SAMPLES_SECONDS=230, CUPY_SECONDS=150, FAULTS_SECONDS=70, TRAINING_SECONDS=80, MEMFD_SECONDS=60).
set -u
here=$(cd "$(dirname "$0")" && pwd)
home=$1 out=$2
shift 2
mkdir -p "$out"
[ $# -gt 0 ] || set -- samples cupy faults training memfd
began=$(date +%s)

part() { # NAME SECONDS COMMAND...
    name=$1 seconds=$2
    shift 2
    timeout -k 5 "$seconds" "$@" >"$out/$name.log" 2>&1
    echo "status $? after $(($(date +%s) - began)) s of all" >>"$out/$name.log"
}

for name; do
    case $name in
    samples) MOST_SECONDS=${SAMPLES_SECONDS:-230} part samples $((${SAMPLES_SECONDS:-230} + 20)) python3 "$here/samples.py" "${SAMPLES:?}" "$home" "$out" ;;
    cupy) MOST_SECONDS=${CUPY_SECONDS:-150} part cupy $((${CUPY_SECONDS:-150} + 15)) python3 "$here/cupy_tests.py" "${CUPY_TESTS:?}" "$home" "$out" ;;
    faults) part faults $((${FAULTS_SECONDS:-70} + 40)) python3 "$here/pause_faults.py" "$home" "$out/faults" "${FAULTS_SECONDS:-70}" ;;
    training) part training $((${TRAINING_SECONDS:-80} + 30)) python3 "$here/steps.py" "$out/training" "$home/bin/sluice" 1 8 "${TRAINING_SECONDS:-80}" "--memory 40g" "--memory 40g --mapped" ;;
    memfd) part memfd "${MEMFD_SECONDS:-60}" python3 "$here/host_memory.py" "$out/memfd" ;;
    *) echo "there is no part $name" ;;
    esac
    echo "$name: $(tail -n 1 "$out/$name.log" 2>/dev/null)"
done
for name; do
    echo
    echo "== $name"
    tail -n 25 "$out/$name.log" 2>/dev/null | cut -c1-3000
done
