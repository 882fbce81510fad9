#!/usr/bin/env bash
# Shares of GPU time on a real GPU: checks, the tables of 'sluice bench compute', and frameworks with CUPTI as the witness.
# usage: bench/gpu/compute.sh DISTRIBUTION OUTPUT [PART ...]
# Parts with five interleaved repeats:
#   loops synced streams threads graph copies    caps, for ways to submit work     weights priority lock cost    the other tables
#   torch others bursts            PyTorch; JAX and CuPy under caps; bursts of PyTorch against a training (python3 on the PATH)
#   training                       what a step of training costs, next to none, in three sets of processes; TRACE_TOO=1 also traced
# with one: verify; mps, blocking (caps under MPS and CUDA_LAUNCH_BLOCKING); bench (with the options in BENCH).
#   warm                           reads PyTorch from the disk in the background; parts that need it wait until it is done
# Without a part: verify weights priority lock cost. README.md says what each takes, and the order that takes least.
# MOST_SECONDS (590) is what all parts may take together; REPEATS (5), ROUNDS (6, of training) and RUN_SECONDS (3; weights 6, priority 4, frameworks 2.5) change the tables.
# Every table is in OUTPUT/PART/ after each run, with every value in a file .csv, so that nothing is lost when time is up.
set -u
home=$1 out=$2
shift 2
parts=${*:-verify weights priority lock cost}
here=$(cd "$(dirname "$0")" && pwd)
sluice=$home/bin/sluice
mkdir -p "$out"
: >"$out/table.txt"
SLUICE_RUNTIME_DIR=$(mktemp -d "${TMPDIR:-/tmp}/sluice-compute-XXXXXX")
export SLUICE_RUNTIME_DIR PYTHONUNBUFFERED=1
repeats=${REPEATS:-5}
most_seconds=${MOST_SECONDS:-590}

say() { printf '%s\n' "$*" | tee -a "$out/table.txt"; }

within() { # within SECONDS COMMAND…: no longer than that, nor than what is left of the whole
    local limit=$1 left=$((most_seconds - SECONDS))
    shift
    ((left < 5)) && { echo "no time left for: $*" >&2; return 124; }
    timeout -k 5 $((limit < left ? limit : left)) "$@"
}

warm() { # in the background, as gently as can be
    nice -n 10 timeout -k 5 120 python3 "$here/warm.py" >"$out/warm.log" 2>&1 &
    warming=$!
}

await_warm() {
    local began=$SECONDS
    [[ -n $warming ]] || return
    wait "$warming"
    say "warm: status $?, $(tail -n 1 "$out/warm.log"); waited $((SECONDS - began)) s for it"
    warming=
}

verify() {
    within 120 "$sluice" verify compute >"$out/verify.log" 2>&1
    say "verify: status $?, $(grep ' hold, ' "$out/verify.log")"
    grep -E ' FAIL ' "$out/verify.log" | tee -a "$out/table.txt"
}

rows() { # rows PART SECONDS OPTION…: a table, ended in time
    local part=$1 limit=$2 left=$((most_seconds - SECONDS - 5))
    shift 2
    within $((limit + 10)) "$sluice" bench compute "$@" --limit $((limit < left ? limit : left)) ${SIMULATED:+--sim} --out "$out/$part" \
        >"$out/$part.out" 2>"$out/$part.log"
    say "$part: status $?, $(tail -n 1 "$out/$part.log"); $(grep -m 1 '^the machine ' "$out/$part.log")"
    tables+=("$out/$part/compute.md")
}

table() { # table PART SECONDS-LIMIT RUN-SECONDS ROWS
    rows "$1" "$2" --only "$4" --seconds "${RUN_SECONDS:-$3}" --repeats "$repeats"
}

copies() { table copies 190 3 'cap/copies'; }
loops() { table loops 330 3 'cap/launch loop 10us,cap/launch loop 50us,cap/launch loop 1 ms,cap/launch loop 20 ms'; }
streams() { table streams 330 3 'cap/4 streams'; }
synced() { table synced 360 3 'cap/sync after each'; }
threads() { table threads 120 3 'cap/4 threads'; }
graph() { table graph 100 3 'cap/graph'; }
weights() { table weights 260 6 weights; }
priority() { table priority 120 4 priority; }
lock() { table lock 220 3 lock; }
cost() { table cost 130 2 cost; }
bench() {
    # shellcheck disable=SC2086
    rows bench "${BENCH_LIMIT:-300}" ${BENCH:---only cap/25 --seconds 3 --repeats 5}
}

shares() { # shares NAME SECONDS-LIMIT RUN-SECONDS PART…: frameworks under shares, in processes that take turns
    local name=$1 limit=$2 seconds=$3 left
    shift 3
    await_warm
    left=$((most_seconds - SECONDS - 5))
    within $((limit + 15)) python3 "$here/shares.py" "$out/$name" "$sluice" "$repeats" "${RUN_SECONDS:-$seconds}" $((limit < left ? limit : left)) "$@" \
        >"$out/$name.log" 2>&1
    say "$name: status $?, $(grep ' ready after ' "$out/$name.log" || tail -n 1 "$out/$name.log")"
    tables+=("$out/$name/shares.md")
}

torch() { shares torch 190 2.5 matmul train profiler; }
others() { shares others 90 2.5 jax cupy; }
bursts() { shares bursts 100 3 priority; }

training() { # a step of training in every way, next to none
    local left spool
    await_warm
    left=$((most_seconds - SECONDS - 5))
    spool=$(mktemp -d "${TMPDIR:-/tmp}/sluice-spool-XXXXXX")
    # shellcheck disable=SC2086
    within 205 python3 "$here/steps.py" "$out/training" "$sluice" 3 "${ROUNDS:-6}" $((190 < left ? 190 : left)) "--memory 40g" "--compute 99%" "--weight 2" \
        ${TRACE_TOO:+"--trace $spool/{set}"} >"$out/training.log" 2>&1
    say "training: status $?, $(grep -m 1 ' ready after ' "$out/training.log" || tail -n 1 "$out/training.log")"
    tables+=("$out/training/steps.md")
    rm -rf "$spool"
}

one_torch() { # one_torch NAME CASE OPTION…: PyTorch on its own, without and with these options
    local name=$1 work=$2 under status
    shift 2
    await_warm
    for under in "" "$*"; do
        # shellcheck disable=SC2086
        within 40 ${under:+"$sluice" run --name "$name" $under --} python3 "$here/compute.py" "$work" 3 >"$out/$name${under:+-capped}.log" 2>&1
        status=$?
        say "$name ${under:-without Sluice}: status $status, $(grep -m 1 '^case=' "$out/$name${under:+-capped}.log" || tail -n 1 "$out/$name${under:+-capped}.log")"
    done
}

mps() { # under NVIDIA's own sharing of one context, with a daemon of our own
    local pipe
    command -v nvidia-cuda-mps-control >/dev/null || { say 'mps: nvidia-cuda-mps-control is not installed'; return; }
    pipe=$(mktemp -d "${TMPDIR:-/tmp}/mps-XXXXXX")
    mkdir -p "$out/mps-log"
    export CUDA_MPS_PIPE_DIRECTORY=$pipe CUDA_MPS_LOG_DIRECTORY=$out/mps-log
    within 10 nvidia-cuda-mps-control -d >"$out/mps-control.log" 2>&1
    say "mps: daemon started, status $?"
    rows mps 60 --only 'cap/25 %/launch loop 50us,cap/25 %/launch loop 1 ms,cap/50 %/graph,weights/3:1/1 ms' --seconds 3 --repeats 1
    one_torch mps-torch matmul --compute 25%
    say "mps: servers $(echo get_server_list | within 5 nvidia-cuda-mps-control 2>&1 | tr '\n' ' ')(a number: they were used)"
    echo quit | within 15 nvidia-cuda-mps-control >>"$out/mps-control.log" 2>&1
    say "mps: daemon ended, status $?"
    unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    rm -rf "$pipe"
}

blocking() { # every launch waits until its kernel is done
    export CUDA_LAUNCH_BLOCKING=1
    rows blocking 50 --only 'cap/25 %/launch loop 50us,cap/25 %/launch loop 1 ms,cap/25 %/4 streams 1 ms,cap/25 %/graph' --seconds 3 --repeats 1
    one_torch blocking-torch matmul --compute 25%
    unset CUDA_LAUNCH_BLOCKING
}

tables=()
warming=
for part in $parts; do
    case $part in
    warm | verify | loops | synced | streams | threads | graph | copies | weights | priority | lock | cost | bench | torch | others | bursts | training | mps | blocking)
        began=$SECONDS
        "$part"
        say "== $part: $((SECONDS - began)) s, $SECONDS s in all"
        ;;
    *) say "unknown part $part" ;;
    esac
done

await_warm
echo
for file in "${tables[@]}"; do
    [[ -s $file ]] && grep '^|' "$file"
done
cat "$out/table.txt"
rm -rf "$SLUICE_RUNTIME_DIR"
