#!/usr/bin/env bash
# Every allocator of three frameworks against a quota of 4 GiB on a real GPU, with nvidia-smi outside as the witness.
# usage: bench/gpu/memory.sh DISTRIBUTION OUTPUT    (python3 with PyTorch, JAX and CuPy on the PATH)
set -u
home=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
sluice=$home/bin/sluice
mkdir -p "$out"
export SLUICE_RUNTIME_DIR=${TMPDIR:-/tmp}/sluice-memory PYTHONUNBUFFERED=1
mkdir -p -m 700 "$SLUICE_RUNTIME_DIR"

timeout -k 5 130 "$sluice" verify >"$out/verify.log" 2>&1
tail -n 1 "$out/verify.log"
grep -E ' FAIL ' "$out/verify.log"

printf '%-20s %-6s %-44s %10s %14s\n' way status stopped held-MiB smi-most-MiB
run() { # run NAME WAY [PROCESSES]: one tenant alone on the GPU, its highest sum in nvidia-smi
    local name=$1 status witness
    shift
    nvidia-smi --query-compute-apps=timestamp,used_memory --format=csv,noheader,nounits -lms 50 >"$out/$name.smi" 2>&1 &
    witness=$!
    timeout -k 5 40 "$sluice" run --memory 4g --name "$name" -- python3 "$here/grow.py" "$@" >"$out/$name.log" 2>&1
    status=$?
    kill $witness 2>/dev/null
    wait $witness 2>/dev/null
    "$sluice" inspect "$name" >"$out/$name.inspect" 2>&1
    printf '%-20s %-6s %-44s %10s %14s\n' "$name" $status \
        "$(sed -n 's/^stopped=//p' "$out/$name.log" | sort | uniq -c | awk '{ $1 = $1 "×"; print }' | tr '\n' ' ')" \
        "$(awk -F= '/^held_mib=/ { sum += $2 } END { print sum + 0 }' "$out/$name.log")" \
        "$(awk -F', ' '{ sum[$1] += $2 } END { for (at in sum) if (sum[at] > most) most = sum[at]; print most + 0 }' "$out/$name.smi")"
}
for way in torch torch-async torch-expandable graph jax jax-platform cupy cupy-async; do
    run "$way" "$way"
done
run torch-two torch 2

timeout -k 5 60 "$sluice" run --memory 4g --name smi -- nvidia-smi >"$out/nvidia-smi-inside.txt" 2>&1
sed -n '/MiB/p' "$out/nvidia-smi-inside.txt" | head -n 4
timeout -k 5 150 "$sluice" bench --repeats 5 --out "$out" >"$out/bench.log" 2>&1
cat "$out/bench.md" 2>/dev/null || tail -n 20 "$out/bench.log"
