#!/usr/bin/env bash
# How often a program with culocker's switches holds a real GPU while another always waits for it, against what culocker did.
# usage: bench/gpu/windows.sh DISTRIBUTION OUTPUT      about 15 s; SIMULATED=1 tries it on the simulated GPU
# Holds are the turns in the job's trace. Each row is run until it is as expected, three times at most: a program that is interrupted
# loses time, and with it a window that counts time.
set -u
home=$(cd "$1" && pwd) out=$2
mkdir -p "$out"
out=$(cd "$out" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
kernels=$here/../../cuda/src/main/resources/sluice/cuda/kernels.ptx
SLUICE_RUNTIME_DIR=$(mktemp -d "${TMPDIR:-/tmp}/sluice-windows-XXXXXX")
export SLUICE_RUNTIME_DIR
[[ -n ${SIMULATED:-} ]] && export LD_LIBRARY_PATH=$home/lib/sim

locked() { # locked TENANT SWITCHES KERNELS MICROSECONDS [WAY]
    local tenant=$1 switches=$2
    shift 2
    # shellcheck disable=SC2086
    timeout 60 env $switches SLUICE_TENANT="$tenant" LD_PRELOAD="$home/lib/cuda_override.so" "$home/lib/test/windows" "$kernels" "$@"
}

holds() { # holds SWITCHES KERNELS MICROSECONDS [WAY]
    rm -rf "$out/trace"
    SLUICE_TRACE=$out/trace locked job "$@" >>"$out/job.log" 2>&1
    "$home/bin/sluice" trace convert "$out/trace" -o "$out/trace.json" >>"$out/job.log" 2>&1
    grep -o '"name":"turn"' "$out/trace.json" | wc -l
}

row() { # row EXPECTED SWITCHES KERNELS MICROSECONDS [WAY]
    local expected=$1 seen=() verdict=missed
    shift
    for _ in 1 2 3; do
        seen+=("$(holds "$@")")
        [[ ${seen[-1]} == "$expected" ]] && verdict=met && break
    done
    printf '| %s | %s of %s µs%s | %s | %s | %s |\n' "${1//CUDA_OVERRIDE_/}" "$2" "$3" "${4:+, $4}" "$expected" "${seen[*]}" "$verdict" | tee -a "$out/windows.md"
}

set -m # so that the other one is a group of processes, and can be ended with all of them
locked other CUDA_OVERRIDE_KERNEL_N_SYNC=0 1000000 20 >"$out/other.log" 2>&1 &
other=$!
sleep 2
printf '| switches | kernels | holds expected | seen | |\n|---|---|---:|---:|---|\n' | tee "$out/windows.md"
row 24 CUDA_OVERRIDE_KERNEL_N_SYNC=0 24 100
row 7 CUDA_OVERRIDE_KERNEL_N_SYNC=3 24 100
row 3 CUDA_OVERRIDE_KERNEL_N_SYNC=10 24 100
row 24 CUDA_OVERRIDE_MAX_SYNC_MS=0.001 24 100
row 7 CUDA_OVERRIDE_MAX_SYNC_MS=2 25 460 --poll
row 24 CUDA_OVERRIDE_ALWAYS_LOCK=1 24 100
row 13 "CUDA_OVERRIDE_KERNEL_N_SYNC=0 CUDA_OVERRIDE_SYNC_LOCK_SKIPS=1" 24 100
row 5 "CUDA_OVERRIDE_KERNEL_N_SYNC=3 CUDA_OVERRIDE_SYNC_LOCK_SKIPS=1" 24 100
row 9 "CUDA_OVERRIDE_KERNEL_N_SYNC=0 CUDA_OVERRIDE_SYNC_LOCK_SKIPS=2" 24 100
row 24 CUDA_OVERRIDE_KERNEL_N_SYNC=10 24 100 --copy
row 8 "CUDA_OVERRIDE_KERNEL_N_SYNC=10 CUDA_OVERRIDE_SYNC_LOCK_SKIPS=2" 24 100 --copy
kill -- -$other 2>/dev/null
wait 2>/dev/null
rm -rf "$SLUICE_RUNTIME_DIR" "$out/trace" "$out/trace.json"
