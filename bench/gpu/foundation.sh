#!/usr/bin/env bash
# Runs the memory quota on a real GPU: doctor, verify, interposition matrix, three frameworks with and without, bench.
# usage: bench/gpu/foundation.sh DISTRIBUTION OUTPUT    (python3 with PyTorch, JAX and CuPy on the PATH)
set -u
home=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
sluice=$home/bin/sluice
mkdir -p "$out"
export SLUICE_RUNTIME_DIR=${TMPDIR:-/tmp}/sluice-foundation PYTHONUNBUFFERED=1
mkdir -p -m 700 "$SLUICE_RUNTIME_DIR"

step() { # step NAME SECONDS COMMAND…: a time limit on every step, its output kept, one line about it
    local name=$1 limit=$2 started=$SECONDS status
    shift 2
    timeout -k 5 "$limit" "$@" >"$out/$name.log" 2>&1
    status=$?
    printf '%-28s status %3d  %4d s\n' "$name" $status $((SECONDS - started)) | tee -a "$out/steps.txt"
    return $status
}

nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader,nounits -lms 100 >"$out/nvidia-smi.csv" 2>&1 &
witness=$!

step doctor 60 "$sluice" doctor
step verify 240 "$sluice" verify

for pass in without with; do
    under=()
    [[ $pass == with ]] && under=(env "LD_PRELOAD=$home/lib/libsluice.so" SLUICE_MEMORY=4g)
    step "matrix-$pass" 30 "${under[@]}" "$home/lib/test/matrix" "$here/../../it/src/test/resources/cudart13-lookups.txt"
done
cmp -s "$out/matrix-without.log" "$out/matrix-with.log" && echo "matrix: the same $(wc -l <"$out/matrix-with.log") answers" | tee -a "$out/steps.txt" ||
    echo "matrix: DIFFERENT" | tee -a "$out/steps.txt"

for framework in torch jax cupy; do
    step "$framework-without" 120 python3 "$here/frameworks.py" $framework
    step "$framework-with" 120 "$sluice" run --memory 4g --name "$framework" -- python3 "$here/frameworks.py" $framework
    "$sluice" inspect "$framework" >"$out/$framework-inspect.txt" 2>&1
done

step bench 240 "$sluice" bench --out "$out"
kill $witness 2>/dev/null

echo
cat "$out/verify.log"
for framework in torch jax cupy; do
    for pass in without with; do
        echo "== $framework $pass"
        grep -E '^(result|total_mib|free_at_most_total|five_gib|held_mib)=' "$out/$framework-$pass.log" || tail -n 5 "$out/$framework-$pass.log"
    done
done
echo "== nvidia-smi, most for one process (MiB)"
awk -F, '$2 + 0 > most[$1] { most[$1] = $2 + 0 } END { for (pid in most) print pid, most[pid] }' "$out/nvidia-smi.csv" | sort -n
cat "$out/bench.md" 2>/dev/null || tail -n 30 "$out/bench.log"
