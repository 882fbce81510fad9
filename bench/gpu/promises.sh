#!/usr/bin/env bash
# The promises of memory and shares on a real GPU, attacked: pools, graphs, code, users, the audit, a soak. nvidia-smi outside is the witness.
# usage: bench/gpu/promises.sh DISTRIBUTION OUTPUT [pools|graphs|code|ways|all|torch|users|namespace|audit|cost|soak|soak-short ...]
#        soak and soak-short need no distribution: DISTRIBUTION may be a checkout in which native/ and sim/ are built.
#        (root; python3 with PyTorch for torch; OLD=FOLDER with an older libsluice.so for cost; SOAK_SECONDS=480; MOST_SECONDS=590)
set -u
home=$1 out=$2
shift 2
parts=${*:-pools graphs code all torch users namespace audit cost}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
: >"$out/table.txt"
most_seconds=${MOST_SECONDS:-590}
work=$(mktemp -d "${TMPDIR:-/tmp}/sluice-promises-XXXXXX")
chmod 755 "$work"
mkdir -m 700 "$work/runtime"
trap 'rm -rf "$work"' EXIT
# Where a limit cannot be enforced nothing is measured.
export SLUICE_RUNTIME_DIR=$work/runtime SLUICE_ON_ERROR=fail
simulated=()
[[ -n ${SIMULATED:-} ]] && simulated=(SLUICE_SIM_STATE="$work/gpu" SLUICE_SIM_MEMORY=139g SLUICE_SIM_CONTEXT=520m LD_LIBRARY_PATH="$home/lib/sim")

say() { printf '%s\n' "$*" | tee -a "$out/table.txt"; }

within() { # within SECONDS COMMAND…: no longer than that, nor than what is left of the whole
    local limit=$1 left=$((most_seconds - SECONDS))
    shift
    ((left < 5)) && { echo "no time left for: $*" >&2; return 124; }
    timeout -k 5 $((limit < left ? limit : left)) "$@"
}

watched() { # watched NAME COMMAND…: the highest sum of all processes in nvidia-smi, MiB
    local name=$1 witness
    shift
    nvidia-smi --query-compute-apps=timestamp,used_memory --format=csv,noheader,nounits -lms 20 >"$out/$name.smi" 2>&1 &
    witness=$!
    "$@" >"$out/$name.log" 2>&1
    status=$?
    kill $witness 2>/dev/null
    wait $witness 2>/dev/null
    most=$(awk -F', ' '{ sum[$1] += $2 } END { for (at in sum) if (sum[at] > most) most = sum[at]; print most + 0 }' "$out/$name.smi")
}

storm() { # storm NAME SECONDS OPTION…
    local name=$1 seconds=$2
    shift 2
    watched "$name" within $((seconds + 40)) env "${simulated[@]}" LD_PRELOAD="$home/lib/libsluice.so" "$home/lib/test/storm" --seconds "$seconds" "$@"
    say "$(printf '%-22s status %-3s smi most %6s MiB  %s' "$name" $status "$most" \
        "$(tr ' ' '\n' <"$out/$name.log" | grep -E '^(calls|refused|wrong|odd|edges-wrong|over|worst-percent|unequal|worst-difference|left|crashes|hangs)=' | tr '\n' ' ')")"
}

pools() {
    storm pools-1-thread 8 --seed 1 --quota 4g --threads 1 --ways async,pool,launch --slack 8m
    storm pools-16-threads 8 --seed 2 --quota 4g --threads 16 --streams 4 --ways async,pool,launch --slack 8m
    storm pools-destroyed 6 --seed 3 --quota 4g --threads 4 --ways async,pool,orphan,plain,launch --slack 8m
}
graphs() {
    storm graphs-judged 8 --seed 4 --quota 4g --judge --ways graph,plain,launch --slack 8m
    storm graphs-8-threads 8 --seed 5 --quota 4g --threads 8 --streams 4 --ways graph,plain,launch --slack 8m
}
code() {
    storm code 8 --seed 6 --quota 4g --threads 4 --ways module,stack,plain,context --slack 64m
    storm absurd 5 --seed 7 --quota 4g --threads 8 --ways plain,absurd --slack 8m
}
ways() { # each way to take memory alone beside plain memory
    for way in pitch async pool graph vmm array mipmap module stack orphan tiny; do storm "way-$way" 3 --seed 9 --quota 4g --threads 2 --ways "plain,$way" --slack 64m; done
}
all() { # without Sluice too the driver answers 719 where one thread sets the stack's limit and others launch graphs
    storm all-but-stack 8 --seed 8 --quota 8g --threads 8 --ways -tiny,managed,absurd,context,stack --slack 64m
    storm all-but-graph 8 --seed 8 --quota 8g --threads 8 --ways -tiny,managed,absurd,context,graph --slack 64m
}

torch() {
    for round in 1 2; do
        watched "torch-$round" within 60 "$home/bin/sluice" run --no-agent --memory 4g -- python3 "$here/tensors.py"
        say "$(printf '%-22s status %-3s smi most %6s MiB  %s' "torch cudaMallocAsync" $status "$most" "$(grep -E '^granted' "$out/torch-$round.log")")"
    done
}

as_users() { # as_users NAME OPTION…
    local name=$1
    shift
    mkdir -p "$out/$name"
    cp -r "$home" "$work/home"
    chmod -R a+rX "$work/home"
    within 60 python3 "$here/users.py" "$work/home" "$out/$name" ${SIMULATED:+--sim} "$@" "${PHASE_SECONDS:-5}" >"$out/$name.log" 2>&1
    say "$name: status $?"
    cat "$out/$name/agent.md" >>"$out/table.txt" 2>/dev/null || tail -n 5 "$out/$name.log" >>"$out/table.txt"
    rm -rf "$work/home"
}
users() { as_users users; }
namespace() { as_users namespace --namespace; }

audit() { # jobs with a share and no quota are not accused, and one without the library is
    local runtime=$work/audit
    mkdir -m 700 "$runtime"
    printf '%s\n' "state-directory = $runtime/state" 'audit-stop = all' 'audit-grace = 0s' 'audit-kill-after = 0s' >"$runtime/agent.conf"
    SLUICE_RUNTIME_DIR=$runtime within 40 env "${simulated[@]}" "$home/bin/sluice" agent --config "$runtime/agent.conf" >"$out/audit-agent.log" 2>&1 &
    sleep 2
    local jobs=()
    for option in '--weight 2' '--compute 50%' '--priority low' '--memory 4g'; do
        # shellcheck disable=SC2086
        SLUICE_RUNTIME_DIR=$runtime within 30 env "${simulated[@]}" "$home/bin/sluice" run ${SIMULATED:+--sim} $option -- "$home/lib/test/hog" --step 64m --count 4 --hold 10000 >>"$out/audit-jobs.log" 2>&1 &
        jobs+=($!)
    done
    sleep 4
    within 30 env "${simulated[@]}" "$home/lib/test/hog" --step 64m --count 4 --hold 20000 >"$out/audit-escaped.log" 2>&1 &
    local escaped=$! ended=0
    for job in "${jobs[@]}"; do wait "$job" && ended=$((ended + 1)); done
    wait $escaped
    say "audit: $ended of ${#jobs[@]} honest jobs ended well; the escaped one ended with $? (137 or 143: stopped)"
    pkill -f "$runtime/agent.conf"
}

cost() { # allocation and launch, interleaved: no library, the older one, this one
    local library
    for round in 1 2 3 4 5; do
        for library in '' ${OLD:+"$OLD/libsluice.so"} "$home/lib/libsluice.so"; do
            env "${simulated[@]}" ${library:+LD_PRELOAD="$library" SLUICE_MEMORY=64g} timeout 20 "$home/lib/test/cost" 2000 2>/dev/null |
                sed "s|^|${library:-none} |" >>"$out/cost.txt"
        done
    done
    say "cost: median and least of 5, ns"
    python3 - "$out/cost.txt" <<'END' | tee -a "$out/table.txt"
import collections, statistics, sys
values = collections.defaultdict(list)
for line in open(sys.argv[1]):
    library, *what, nanos = line.split()
    values[" ".join(what), "none" if library == "none" else "0.1" if "/old/" in library else "new"].append(float(nanos))
for what in sorted({what for what, _ in values}):
    print(f"{what:24}", "  ".join(f"{name} {statistics.median(values[what, name]):8.1f} {min(values[what, name]):8.1f}" for name in ("none", "0.1", "new") if (what, name) in values))
END
}

rounds() { # rounds NAME SECONDS OPTION…: rounds of storm; all that they tell is in NAME.log, the table ends with the verdict
    local name=$1 seconds=$2 gpu=--gpu
    shift 2
    [[ -n ${SIMULATED:-} ]] && gpu=
    # shellcheck disable=SC2086
    within $((seconds + 75)) python3 "$here/../soak/soak.py" --seconds "$seconds" --most $((seconds + 60)) $gpu --home "$home" --seed "${SEED:-2000}" "$@" ${SOAK:-} >"$out/$name.log" 2>&1
    say "$name: status $?"
    awk '/^\| kind/ { text = "" } { text = text $0 "\n" } END { printf "%s", text }' "$out/$name.log" | tee -a "$out/table.txt"
}
soak() { rounds soak "${SOAK_SECONDS:-480}"; }
soak_short() { # 10 s of each kind; the samples over the limit, calls not foreseen and errors follow the table
    rounds soak-short "${SHORT_SECONDS:-70}" --diagnose
    grep -E '^(pools|all|judged|unlimited|small|small-alone|explained): |storm seed=' "$out/soak-short.log" | cut -c1-330 | head -n "${LINES_MOST:-70}"
}

for part in $parts; do
    case $part in
    pools | graphs | code | ways | all | torch | users | namespace | audit | cost | soak) began=$SECONDS && "$part"; say "== $part: $((SECONDS - began)) s" ;;
    soak-short) began=$SECONDS && soak_short; say "== $part: $((SECONDS - began)) s" ;;
    *) say "unknown part $part" ;;
    esac
done
