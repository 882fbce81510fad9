#!/usr/bin/env bash
# The agent on a real GPU, in under 90 s: killed and replaced while two weighted tenants work, then the audit.
# usage: bench/gpu/agent.sh DISTRIBUTION OUTPUT [killed|audit ...]    (python3 on the PATH; SIMULATED=1 tries 'killed' without a GPU)
set -u
home=$1 out=$2
shift 2
parts=${*:-killed audit}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
: >"$out/table.txt"

killed() {
    timeout -k 5 60 python3 "$here/agent.py" "$home" "$out/killed" ${SIMULATED:+--sim} "${PHASE_SECONDS:-6}" >"$out/killed.log" 2>&1
    echo "killed: status $?" >>"$out/table.txt"
    cat "$out/killed/agent.md" >>"$out/table.txt" 2>/dev/null || tail -n 5 "$out/killed.log" >>"$out/table.txt"
}

audit() {
    timeout -k 5 50 bash "$here/audit.sh" "$home" "$out/audit" >"$out/audit.log" 2>&1
    echo "audit: status $?" >>"$out/table.txt"
    cat "$out/audit/table.txt" >>"$out/table.txt"
}

for part in $parts; do
    case $part in
    killed | audit) began=$SECONDS && "$part" && echo "== $part: $((SECONDS - began)) s" >>"$out/table.txt" ;;
    *) echo "unknown part $part; there are killed, audit" >>"$out/table.txt" ;;
    esac
done
cat "$out/table.txt"
