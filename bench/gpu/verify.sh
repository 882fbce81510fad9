#!/usr/bin/env bash
# All checks of `sluice verify` on a real GPU: plain, with mapped memory, with time slices. Each choice of checks has a limit and a log of its own,
# so a slow one takes none of the others along.
# usage: bench/gpu/verify.sh DISTRIBUTION OUTPUT [plain|mapped|slices ...]      by default all
#        MOST_SECONDS (590) is the limit of the whole; SIMULATED=1 tries the script on the simulated GPU
set -u
home=$1 out=$2
shift 2
ways=${*:-plain mapped slices}
sluice=$home/bin/sluice
mkdir -p "$out"
: >"$out/table.txt"
SLUICE_RUNTIME_DIR=$(mktemp -d "${TMPDIR:-/tmp}/sluice-verify-XXXXXX")
export SLUICE_RUNTIME_DIR
trap 'rm -rf "$SLUICE_RUNTIME_DIR"' EXIT
most_seconds=${MOST_SECONDS:-590}
options=()
[ -n "${SIMULATED:-}" ] && options=(--sim)

say() { printf '%s\n' "$*" | tee -a "$out/table.txt"; }

check() { # check WAY LIMIT VARIABLE GROUP…
    local way=$1 limit=$2 variable=$3 left=$((most_seconds - SECONDS)) log status
    shift 3
    log=$out/$way-$1.log
    if ((left < 5)); then
        say "$(printf '%-8s %-18s not run: no time is left' "$way" "$*")"
        return
    fi
    env "$variable" timeout -k 5 $((limit < left ? limit : left)) "$sluice" verify "${options[@]}" "$@" >"$log" 2>&1
    status=$?
    say "$(printf '%-8s %-18s status %-4s %s' "$way" "$*" $status "$(grep -E ' hold, ' "$log" || echo "no summary; the last line: $(tail -n 1 "$log")")")"
    grep -E ' FAIL ' "$log" | tee -a "$out/table.txt"
}

all() { # all WAY VARIABLE
    check "$1" 240 "$2" memory
    check "$1" 60 "$2" unchanged
    check "$1" 120 "$2" compute
    check "$1" 120 "$2" pause
}

for way in $ways; do
    case $way in
    plain) all plain SLUICE_LOG=warn ;;
    mapped) all mapped SLUICE_MAPPED=true ;;
    slices) all slices SLUICE_SLICES=auto ;;
    *) say "no such way: $way" ;;
    esac
done
