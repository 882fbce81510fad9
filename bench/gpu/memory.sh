#!/usr/bin/env bash
# The memory quota on a real GPU, in under six minutes: checks, every allocator of three frameworks against a quota of 4 GiB
# with nvidia-smi outside as the witness, training with and without, facts about the driver, costs.
# usage: bench/gpu/memory.sh DISTRIBUTION OUTPUT [verify|quota|training|inside|facts|bench ...]
#        (python3 with PyTorch, JAX and CuPy on the PATH for quota and training)
set -u
home=$1 out=$2
shift 2
parts=${*:-verify quota training inside facts bench}
here=$(cd "$(dirname "$0")" && pwd)
sluice=$home/bin/sluice
tests=$home/lib/test
mkdir -p "$out"
: >"$out/table.txt"
SLUICE_RUNTIME_DIR=$(mktemp -d "${TMPDIR:-/tmp}/sluice-memory-XXXXXX")
export SLUICE_RUNTIME_DIR PYTHONUNBUFFERED=1
most_seconds=${MOST_SECONDS:-355}

say() { printf '%s\n' "$*" | tee -a "$out/table.txt"; }

within() { # within SECONDS COMMAND…: no longer than that, nor than what is left of the whole
    local limit=$1 left=$((most_seconds - SECONDS))
    shift
    ((left < 5)) && { echo "no time left for: $*" >&2; return 124; }
    timeout -k 5 $((limit < left ? limit : left)) "$@"
}

verify() {
    within 150 "$sluice" verify memory unchanged >"$out/verify.log" 2>&1
    say "verify: status $?, $(tail -n 1 "$out/verify.log")"
    grep -E ' FAIL | FAILED ' "$out/verify.log" | tee -a "$out/table.txt"
}

one_quota() { # one_quota NAME WAY [PROCESSES]: one tenant alone on the GPU, its highest sum in nvidia-smi
    local name=$1 status witness
    shift
    nvidia-smi --query-compute-apps=timestamp,used_memory --format=csv,noheader,nounits -lms 50 >"$out/$name.smi" 2>&1 &
    witness=$!
    within 30 "$sluice" run --memory 4g --name "$name" -- python3 "$here/grow.py" "$@" >"$out/$name.log" 2>&1
    status=$?
    kill $witness 2>/dev/null
    wait $witness 2>/dev/null
    "$sluice" inspect "$name" >"$out/$name.inspect" 2>&1
    say "$(printf '%-20s %-6s %-44s %10s %14s' "$name" $status \
        "$(sed -n 's/^stopped=//p' "$out/$name.log" | sort | uniq -c | awk '{ $1 = $1 "×"; print }' | tr '\n' ' ')" \
        "$(awk -F= '/^held_mib=/ { sum += $2 } END { print sum + 0 }' "$out/$name.log")" \
        "$(awk -F', ' '{ sum[$1] += $2 } END { for (at in sum) if (sum[at] > most) most = sum[at]; print most + 0 }' "$out/$name.smi")")"
}

quota() {
    say "$(printf '%-20s %-6s %-44s %10s %14s' way status stopped held-MiB smi-most-MiB)"
    for way in torch torch-async torch-expandable graph jax jax-platform cupy cupy-async; do
        one_quota "$way" "$way"
    done
    one_quota torch-two torch 2
}

training() {
    within 100 python3 "$here/steps.py" "$out/training" "$sluice" 2 5 90 "--memory 40g" >"$out/training.log" 2>&1
    say "training: status $?"
    tee -a "$out/table.txt" <"$out/training/steps.md"
}

inside() { # nvidia-smi in a tenant, while another process of it holds 1 GiB; and outside at the same time
    within 20 "$sluice" run --memory 4g --name inside -- sh -c "'$tests/hog' --step 512m --count 2 --hold 5000 &
        sleep 2; echo \"hog is \$!\"; nvidia-smi; nvidia-smi --query-compute-apps=pid,used_memory --format=csv; wait" \
        >"$out/nvidia-smi-inside.txt" 2>&1 &
    sleep 3.5
    nvidia-smi --query-compute-apps=pid,used_memory --format=csv >"$out/nvidia-smi-outside.txt" 2>&1
    wait $!
    say "inside: status $?"
    { echo "inside:"; grep -E 'MiB|^hog' "$out/nvidia-smi-inside.txt"; echo "outside:"; cat "$out/nvidia-smi-outside.txt"; } |
        head -n 20 | tee -a "$out/table.txt"
}

fact() { # fact NAME SECONDS COMMAND…: of the bare driver
    local name=$1 limit=$2
    shift 2
    within "$limit" "$@" >"$out/fact-$name.txt" 2>&1
    say "fact $name: status $?, $(wc -l <"$out/fact-$name.txt") lines"
}

symbolic() { # whether NVML binds its own calls to itself, so that they do not come back through the library
    local library
    library=$(ldconfig -p | awk '/libnvidia-ml\.so\.1/ { print $NF; exit }')
    echo "$library"
    if command -v readelf >/dev/null; then
        readelf -d "$library" | grep -E 'SYMBOLIC|FLAGS' || echo "no flag"
    else
        python3 - "$library" <<'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
at, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
for header in (data[at + i * size:at + i * size + 56] for i in range(count)):
    kind, offset, length = struct.unpack_from("<I", header)[0], *struct.unpack_from("<Q", header, 8), *struct.unpack_from("<Q", header, 32)
    for tag, value in struct.iter_unpack("<qQ", data[offset:offset + length]) if kind == 2 else ():
        if tag in (16, 30, 0x6ffffffb):
            print({16: "SYMBOLIC", 30: "FLAGS", 0x6ffffffb: "FLAGS_1"}[tag], hex(value))
PYTHON
    fi
}

facts() {
    fact sizes 25 "$tests/vmm" sizes
    fact vmm-cost 25 "$tests/vmm" cost
    fact footprint 15 "$tests/footprint"
    fact pool 15 "$tests/async" --step 20m --count 3 info fill info free info sync info trim info
    fact pool-free-now 15 "$tests/async" --step 20m --count 3 fill info free-now info plain info sync info trim info
    fact pool-kept 15 "$tests/async" --step 20m --count 3 threshold fill free sync info plain info trim info
    fact own-pool 15 "$tests/async" --pool own --step 100m --count 2 fill info destroy info free info sync info
    fact graph-reuse 15 "$tests/async" --step 20m --count 4 graph info graph-trim info
    fact call-cost 30 "$tests/cost" 2000
    symbolic >"$out/fact-nvml-symbolic.txt" 2>&1
    say "fact nvml-symbolic: $(tr '\n' ' ' <"$out/fact-nvml-symbolic.txt")"
    cat "$out"/fact-pool.txt "$out"/fact-graph-reuse.txt | sed 's/^/    /' | tee -a "$out/table.txt"
}

bench() {
    within 120 "$sluice" bench --repeats 3 --out "$out" >"$out/bench.log" 2>&1
    say "bench: status $?"
    cat "$out/bench.md" 2>/dev/null || tail -n 20 "$out/bench.log"
}

for part in $parts; do
    began=$SECONDS
    "$part"
    say "== $part: $((SECONDS - began)) s, $SECONDS s in all"
done
rm -rf "$SLUICE_RUNTIME_DIR"
