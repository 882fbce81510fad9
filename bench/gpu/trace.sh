#!/usr/bin/env bash
# Traces on a real GPU, in under four minutes: what they cost, whether events are lost, and PyTorch's own profiler as the witness.
# usage: bench/gpu/trace.sh DISTRIBUTION OUTPUT [cost|training|profiler|nvtx|events ...]
#        (python3 with PyTorch on the PATH for training, profiler and nvtx, gcc for events)
set -u
home=$1 out=$2
shift 2
parts=${*:-cost training profiler nvtx events}
here=$(cd "$(dirname "$0")" && pwd)
sluice=$home/bin/sluice
mkdir -p "$out"
: >"$out/table.txt"
SLUICE_RUNTIME_DIR=$(mktemp -d "${TMPDIR:-/tmp}/sluice-trace-XXXXXX")
spool=$(mktemp -d "${TMPDIR:-/tmp}/sluice-spool-XXXXXX")
export SLUICE_RUNTIME_DIR PYTHONUNBUFFERED=1

say() { printf '%s\n' "$*" | tee -a "$out/table.txt"; }

cost() {
    timeout -k 5 120 "$sluice" bench compute --only cost/empty --repeats "${REPEATS:-3}" --seconds 2 --out "$out/cost" >"$out/cost.out" 2>"$out/cost.log"
    say "cost: status $?"
    grep '^| empty' "$out/cost/compute.md" | tee -a "$out/table.txt"
}

training() { # in turns with a process without the library
    timeout -k 5 130 python3 "$here/steps.py" "$out/training" "$sluice" 2 "${REPEATS:-5}" 120 "--memory 40g" "--trace $spool/training-{set}" >"$out/training.log" 2>&1
    say "training: status $?"
    tee -a "$out/table.txt" <"$out/training/steps.md"
    rm -rf "$spool"/training-*
}

profiler() { # one run, watched by both
    timeout -k 5 90 "$sluice" run --name profiled --trace "$spool/profiled" -- python3 "$here/profiled.py" >"$out/profiled.log" 2>&1
    say "profiled: status $?, $(tail -n 1 "$out/profiled.log")"
    timeout -k 5 60 "$sluice" report "$spool/profiled" --json >"$out/profiled.json" 2>"$out/report.log"
    timeout -k 5 60 "$sluice" report "$spool/profiled" -o "$out/profiled.html" >>"$out/report.log" 2>&1
    timeout -k 5 60 "$sluice" trace convert "$spool/profiled" -o "$out/profiled.pftrace.gz" >>"$out/report.log" 2>&1
    python3 "$here/profiled.py" compare "$out/profiled.log" "$out/profiled.json" | tee -a "$out/table.txt"
    rm -rf "$spool/profiled"
}

nvtx() { # ranges that PyTorch sets are in the trace, as often and as long
    timeout -k 5 60 "$sluice" run --name nvtx --trace "$spool/nvtx" -- python3 "$here/nvtx.py" >"$out/nvtx.log" 2>&1
    say "nvtx: status $?"
    timeout -k 5 60 "$sluice" report "$spool/nvtx" --json >"$out/nvtx.json" 2>"$out/nvtx-report.log"
    timeout -k 5 60 "$sluice" trace convert "$spool/nvtx" -o "$out/nvtx.pftrace.gz" >>"$out/nvtx-report.log" 2>&1
    python3 "$here/nvtx.py" compare "$out/nvtx.log" "$out/nvtx.json" "$out/nvtx.pftrace.gz" 2>&1 | tee -a "$out/table.txt"
    rm -rf "$spool/nvtx"
}

events() { # ten million, while they are recorded and while nobody reads
    gcc -O2 -o "$spool/events" "$here/events.c" -ldl || return
    "$sluice" run --name events -- "$spool/events" 10000000 25 >"$out/events.log" 2>&1 &
    sleep 1.5
    timeout -k 5 60 "$sluice" trace events --for 50s -o "$spool/recorded" >"$out/recorded.log" 2>&1
    wait $!
    say "events, recorded: $(tail -n 1 "$out/events.log"); $(tail -n 1 "$out/recorded.log")"
    rm -rf "$spool/recorded"
}

for part in $parts; do
    case $part in
    cost | training | profiler | nvtx | events)
        began=$SECONDS
        "$part"
        echo "== $part: $((SECONDS - began)) s"
        ;;
    *) say "unknown part $part; there are cost, training, profiler, nvtx, events" ;;
    esac
done
echo
cat "$out/table.txt"
rm -rf "$SLUICE_RUNTIME_DIR" "$spool"
