#!/usr/bin/env bash
# The audit on a real GPU, in half a minute: a process without the library is found within 5 s and stopped, one in order is not touched.
# usage: bench/gpu/audit.sh DISTRIBUTION OUTPUT
set -u
home=$1 out=$2
sluice=$home/bin/sluice hog=$home/lib/test/hog
mkdir -p "$out"
SLUICE_RUNTIME_DIR=$(mktemp -d "${TMPDIR:-/tmp}/sluice-audit-XXXXXX")
export SLUICE_RUNTIME_DIR
printf '%s\n' "state-directory = $SLUICE_RUNTIME_DIR/state" 'audit-stop = unregistered' 'audit-grace = 5s' >"$out/agent.conf"
: >"$out/table.txt"

say() { printf '%s\n' "$*" | tee -a "$out/table.txt"; }

begun() { # waits until a program holds its memory
    until grep -q '^got' "$1"; do sleep 0.02; done
}

"$sluice" agent --config "$out/agent.conf" >"$out/agent.log" 2>&1 &
agent=$!
"$sluice" run --name good --memory 8g -- "$hog" --step 256m --count 16 --hold 60000 >"$out/good.log" 2>&1 &
good=$!
begun "$out/good.log"
sleep 6
"$sluice" audit >"$out/before.txt"
say "in order alone: status $?, $(head -1 "$out/before.txt")"
"$hog" --step 256m --count 8 --hold 60000 >"$out/escaped.log" 2>&1 &
escaped=$!
begun "$out/escaped.log"
began=$(date +%s%N)
until "$sluice" audit | tee "$out/found.txt" | grep -q " $escaped "; do sleep 0.05; done
say "found after $((($(date +%s%N) - began) / 1000000)) ms:"
say "$(cat "$out/found.txt")"
wait "$escaped"
say "escaped: status $? after $((($(date +%s%N) - began) / 1000000)) ms (143: stopped by SIGTERM)"
sleep 6
kill -0 "$good" && say 'in order: runs on'
"$sluice" audit --json >"$out/after.json"
say "after: status $?"
"$sluice" inspect good >"$out/good.txt" 2>&1
kill "$good" "$agent"
wait
rm -rf "$SLUICE_RUNTIME_DIR"
