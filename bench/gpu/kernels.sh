#!/usr/bin/env bash
# Kernel times of 'sluice report' against CUPTI's, on a real GPU: one thread, eight threads, two tenants; in about two minutes.
# usage: bench/gpu/kernels.sh DISTRIBUTION OUTPUT    (python3 with PyTorch on the PATH); status 1 when a time is wrong
set -u
sluice=$1/bin/sluice out=$2 wrong=0
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
SLUICE_RUNTIME_DIR=$(mktemp -d "${TMPDIR:-/tmp}/sluice-kernels-XXXXXX")
spool=$(mktemp -d "${TMPDIR:-/tmp}/sluice-spool-XXXXXX")
export SLUICE_RUNTIME_DIR PYTHONUNBUFFERED=1
printf '| run | launches CUPTI / trace | CUPTI µs | report µs | off | sum | |\n|---|---|---|---|---|---|---|\n' >"$out/table.txt"

start() { # NAME OPTIONS -- ARGUMENTS OF kernels.py work
    local name=$1 options=()
    shift
    while [[ $1 != -- ]]; do options+=("$1"); shift; done
    shift
    timeout -k 5 60 "$sluice" run --name "$name" --trace "$spool/$name" "${options[@]}" -- python3 "$here/kernels.py" work "$@" >"$out/$name.log" 2>&1
}

judge() { # NAME
    timeout -k 5 60 "$sluice" report "$spool/$1" --json >"$out/$1.json" 2>"$out/$1.report.log"
    local line
    line=$(python3 "$here/kernels.py" compare "$out/$1.log" "$out/$1.json") || wrong=1
    printf '| %s %s\n' "$1" "${line:-| no result: see $1.log |}" | tee -a "$out/table.txt"
    rm -rf "${spool:?}/$1"
}

for micros in 200 500; do
    for kind in beside full; do
        start "one-$micros-$kind" -- 1 $micros 2 4 $kind; judge "one-$micros-$kind"
        start "eight-$micros-$kind" -- 8 $micros 2 1 $kind; judge "eight-$micros-$kind"
        start "ahead-$micros-$kind" -- 8 $micros 2 10 $kind; judge "ahead-$micros-$kind"
    done
    for share in "--compute 50%" ""; do
        label=${share:+turns}; label=${label:-unshared}
        # shellcheck disable=SC2086
        start "first-$micros-$label" $share -- 1 $micros 3 4 full &
        # shellcheck disable=SC2086
        start "second-$micros-$label" $share -- 1 $micros 3 4 full
        wait
        judge "first-$micros-$label"; judge "second-$micros-$label"
    done
done
rm -rf "$SLUICE_RUNTIME_DIR" "$spool"
exit $wrong
