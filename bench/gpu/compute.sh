#!/usr/bin/env bash
# Shares of GPU time on a real GPU: checks, the tables of 'sluice bench compute', and PyTorch with CUPTI as the witness.
# usage: bench/gpu/compute.sh DISTRIBUTION OUTPUT [PART ...]
# Parts, with five interleaved repeats each: copies, streams, synced, graph (caps), weights, priority, lock, cost; verify; torch (python3
# with PyTorch on the PATH); bench (with the options in BENCH). Without a part: verify weights priority lock cost torch.
# MOST_SECONDS (590) is what all parts may take together; REPEATS (5) and RUN_SECONDS (3; priority 4) change the tables.
# Every table is in OUTPUT/PART/compute.md after each run, every value in compute.csv, so that nothing is lost when time is up.
set -u
home=$1 out=$2
shift 2
parts=${*:-verify weights priority lock cost torch}
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

verify() {
    within 120 "$sluice" verify compute >"$out/verify.log" 2>&1
    say "verify: status $?, $(tail -n 1 "$out/verify.log")"
    grep -E ' FAIL ' "$out/verify.log" | tee -a "$out/table.txt"
}

rows() { # rows PART SECONDS OPTION…: a table, ended in time
    local part=$1 limit=$2 left=$((most_seconds - SECONDS - 5))
    shift 2
    within $((limit + 10)) "$sluice" bench compute "$@" --limit $((limit < left ? limit : left)) ${SIMULATED:+--sim} --out "$out/$part" \
        >"$out/$part.out" 2>"$out/$part.log"
    say "$part: status $?, $(tail -n 1 "$out/$part.log")"
    tables+=("$out/$part/compute.md")
}

table() { # table PART SECONDS-LIMIT RUN-SECONDS ROWS
    rows "$1" "$2" --only "$4" --seconds "${RUN_SECONDS:-$3}" --repeats "$repeats"
}

copies() { table copies 190 3 'cap/copies'; }
streams() { table streams 150 3 'cap/10 %/4 streams 50us,cap/75 %/4 streams 50us,cap/4 streams 1 ms'; }
synced() { table synced 300 3 'cap/sync after each 10us,cap/sync after each 50us,cap/sync after each 20 ms'; }
graph() { table graph 100 3 'cap/graph'; }
weights() { table weights 150 3 weights; }
priority() { table priority 110 4 priority; }
lock() { table lock 220 3 lock; }
cost() { table cost 130 2 cost; }
bench() {
    # shellcheck disable=SC2086
    rows bench "${BENCH_LIMIT:-300}" ${BENCH:---only cap/25 --seconds 3 --repeats 5}
}

case_of() { # case_of NAME LIMIT CASE SECONDS OPTION…: PyTorch in a tenant with these options, or without the library
    local name=$1 limit=$2 work=$3 seconds=$4 under=()
    shift 4
    (($#)) && under=("$sluice" run --name "$name" "$@" --)
    within "$limit" "${under[@]}" python3 "$here/compute.py" "$work" "$seconds" >"$out/$name.log" 2>&1
    local status=$?
    say "$(printf '%-22s %-28s status %d  %s' "$name" "${*:-without Sluice}" $status "$(grep -m 1 '^case=' "$out/$name.log" || tail -n 1 "$out/$name.log")")"
}

torch() {
    case_of matmul-alone 30 matmul 4
    for cap in 10 25 50; do
        case_of "matmul-$cap" 40 matmul 6 --compute "$cap%"
    done
    case_of train-alone 30 train 4
    for cap in 25 50; do
        case_of "train-$cap" 40 train 6 --compute "$cap%"
    done
    for repeat in 1 2; do
        case_of "rate-none-$repeat" 30 rate-train 3
        case_of "rate-weight-$repeat" 30 rate-train 3 --weight 2
    done
    case_of bursts-alone 30 bursts 4
    case_of train-low 40 train-large 12 --priority low &
    for _ in $(seq 100); do
        grep -qs ready "$out/train-low.log" && break
        sleep 0.1
    done
    case_of bursts-high 30 bursts 4 --priority high
    wait
}

tables=()
for part in $parts; do
    case $part in
    verify | copies | streams | synced | graph | weights | priority | lock | cost | bench | torch)
        began=$SECONDS
        "$part"
        say "== $part: $((SECONDS - began)) s, $SECONDS s in all"
        ;;
    *) say "unknown part $part" ;;
    esac
done

echo
for file in "${tables[@]}"; do
    [[ -s $file ]] && grep '^|' "$file"
done
cat "$out/table.txt"
rm -rf "$SLUICE_RUNTIME_DIR"
