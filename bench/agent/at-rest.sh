#!/usr/bin/env bash
# What the agent costs at rest, a scrape, and sluice top: so many tenants with so many processes each on the simulated GPU, all idle.
#   bench/agent/at-rest.sh [TENANTS] [PROCESSES] [SECONDS]      needs a built distribution (./sluice version builds it)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd -P)
tenants=${1:-64} processes=${2:-4} seconds=${3:-30}
sluice=$root/dist/target/sluice/bin/sluice
work=$(mktemp -d)
export SLUICE_RUNTIME_DIR=$work/run SLUICE_SIM_STATE=$work/gpu SLUICE_SIM_CONTEXT=0 XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
mkdir -m 700 "$work/run"
pids=()
finish() {
    for pid in "${pids[@]}"; do
        # shellcheck disable=SC2046
        kill "$pid" $(cat "/proc/$pid/task/$pid/children" 2>/dev/null) 2>/dev/null || true
    done
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

for ((tenant = 0; tenant < tenants; tenant++)); do
    "$sluice" run --sim --name "tenant$tenant" --memory 256m --weight 1 -- \
        "$root/dist/target/sluice/lib/test/hog" --children "$processes" --step 2m --count 1 --hold $((seconds * 10000)) >/dev/null 2>&1 &
    pids+=($!)
done
"$sluice" agent >"$work/log" 2>&1 &
agent=$!
pids+=("$agent")
live() { "$sluice" ps --json 2>/dev/null | grep -c '"alive" : true' || true; }
for ((wait = 0; wait < 120; wait++)); do
    (($(live) >= tenants * processes)) && break
    sleep 1
done
cat "$work/log"

ticks() { awk '{ print $14 + $15 }' "/proc/$agent/stat"; }
sleep 5
before=$(ticks)
sleep "$seconds"
after=$(ticks)
echo "tenants $tenants, live processes $(live), seconds $seconds"
awk -v ticks=$((after - before)) -v hz="$(getconf CLK_TCK)" -v s="$seconds" 'BEGIN { printf "agent: %.2f %% of a core\n", 100 * ticks / hz / s }'
grep -E 'VmRSS|VmHWM|RssAnon|RssFile|Threads' "/proc/$agent/status"
for route in /v1/machine /v1/tenants /v1/history; do
    curl -s -o "$work/body" -w "$route %{http_code} %{time_total} s %{size_download} bytes\n" --unix-socket "$work/run/agent.sock" "http://agent$route"
done
for ((round = 1; round <= 3; round++)); do
    for ((scrape = 0; scrape < 60; scrape++)); do
        curl -s -o "$work/body" -w '%{time_total}\n' --unix-socket "$work/run/agent.sock" http://agent/metrics
        sleep 0.05
    done | sort -n | awk -v load="$(cut -d' ' -f1 /proc/loadavg)" '{ ms[NR] = $1 * 1000 } END {
        printf "60 scrapes: least %.1f ms, median %.1f ms, most %.1f ms; load %s\n", ms[1], ms[int(NR / 2)], ms[NR], load }'
done
grep -E 'VmRSS|RssAnon' "/proc/$agent/status"
for size in "24 80" "60 160"; do
    # shellcheck disable=SC2086
    python3 "$root/bench/agent/top.py" "$sluice" $size 15
done
python3 "$root/bench/agent/busy.py" "$work/run" &
pids+=($!)
for size in "24 80" "60 160"; do
    # shellcheck disable=SC2086
    python3 "$root/bench/agent/top.py" "$sluice" $size 15
done
