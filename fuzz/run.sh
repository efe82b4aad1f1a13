#!/usr/bin/env bash
# Runs every fuzz target, or those that are named, for so many seconds each: run.sh [SECONDS [TARGET...]]
# It needs a nightly toolchain and cargo-fuzz. Inputs that were found are kept in fuzz/corpus, those
# that break something in fuzz/artifacts; run.sh fails if there is one.
set -euo pipefail
cd "$(dirname "$0")"

seconds=${1:-60}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    mapfile -t targets < <(cargo +nightly fuzz list)
fi
# Stores are made by the thousand: in memory, where there is such a folder.
if [ -z "${TMPDIR:-}" ] && [ -d /dev/shm ]; then
    export TMPDIR=/dev/shm
fi
export RAYON_NUM_THREADS=${RAYON_NUM_THREADS:-1}

cargo +nightly fuzz build
for target in "${targets[@]}"; do
    echo "== $target, $seconds s"
    mkdir -p "corpus/$target"
    seeds=()
    if [ -d "seeds/$target" ]; then
        seeds=("seeds/$target")
    fi
    # The threads of a pool end a moment after it does: what they still hold is no leak.
    cargo +nightly fuzz run "$target" "corpus/$target" "${seeds[@]}" -- -detect_leaks=0 \
        -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 -max_len=4096 -print_final_stats=1
done
