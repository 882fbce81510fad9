#!/usr/bin/env bash
# Shares of GPU time on a real GPU: verify, bench, and PyTorch with CUPTI as the witness. All three take about 8 minutes.
# usage: bench/gpu/compute.sh DISTRIBUTION OUTPUT [verify|bench|torch ...]    (python3 with PyTorch on the PATH for torch)
# BENCH holds other options for 'sluice bench compute', such as BENCH="--only cap/10 --seconds 12 --repeats 5".
set -u
home=$1 out=$2
shift 2
parts=${*:-verify bench torch}
here=$(cd "$(dirname "$0")" && pwd)
sluice=$home/bin/sluice
mkdir -p "$out"
: >"$out/table.txt"
SLUICE_RUNTIME_DIR=$(mktemp -d "${TMPDIR:-/tmp}/sluice-compute-XXXXXX")
export SLUICE_RUNTIME_DIR PYTHONUNBUFFERED=1
BENCH=${BENCH:---only cap/25,weights,priority,lock,cost --seconds 4 --repeats 1}

say() { printf '%s\n' "$*" | tee -a "$out/table.txt"; }

verify() {
    timeout -k 5 120 "$sluice" verify compute >"$out/verify.log" 2>&1
    say "verify: status $?, $(tail -n 1 "$out/verify.log")"
    grep -E ' FAIL ' "$out/verify.log" | tee -a "$out/table.txt"
}

bench() {
    # shellcheck disable=SC2086
    timeout -k 5 ${BENCH_LIMIT:-300} "$sluice" bench compute $BENCH --out "$out" >"$out/bench.out" 2>"$out/bench.log"
    say "bench: status $?"
    [[ -s $out/compute.md ]] || tail -n 40 "$out/bench.log"
}

case_of() { # case_of NAME LIMIT CASE SECONDS OPTION…: PyTorch in a tenant with these options, or without the library
    local name=$1 limit=$2 work=$3 seconds=$4 under=()
    shift 4
    (($#)) && under=("$sluice" run --name "$name" "$@" --)
    timeout -k 5 "$limit" "${under[@]}" python3 "$here/compute.py" "$work" "$seconds" >"$out/$name.log" 2>&1
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

for part in $parts; do
    case $part in
    verify | bench | torch) "$part" ;;
    *) say "unknown part $part; there are verify, bench, torch" ;;
    esac
done

echo
[[ " $parts " == *" bench "* && -s $out/compute.md ]] && cat "$out/compute.md"
cat "$out/table.txt"
rm -rf "$SLUICE_RUNTIME_DIR"
