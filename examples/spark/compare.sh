#!/bin/sh
# Finds the pairs of a JSONL file three times: with Spark on two local cores, with sort, and with a
# store; and compares them. Arguments: the file, and options for map, reduce and init.
set -eu
if [ $# -lt 1 ]; then
    echo "usage: $0 FILE.jsonl [OPTION...], with pyspark in python3 (or PYTHON) and dedupdb in PATH" >&2
    exit 2
fi
input=$1
shift
if [ $# -eq 0 ]; then
    set -- --threshold 0.9 --permutations 960 --bands 60x16
fi
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SPARK_LOCAL_DIRS="$work"

bytewise() {
    LC_ALL=C sort "$@"
}

# The time of a command, and its own output.
timed() {
    name=$1
    shift
    start=$(date +%s)
    "$@"
    echo "$name: $(($(date +%s) - start)) s"
}

spark() {
    "${PYTHON:-python3}" "$here/pairs.py" "$input" "$work/spark" --options="$*" 2> "$work/spark.log" ||
        { tail -n 30 "$work/spark.log" >&2; exit 1; }
    cat "$work"/spark/part-* | bytewise > "$work/spark.tsv"
}

shell() {
    dedupdb map "$@" < "$input" | bytewise -S 25% -T "$work" > "$work/lines"
    dedupdb reduce "$@" < "$work/lines" | bytewise > "$work/shell.tsv"
    rm "$work/lines"
}

store() {
    dedupdb --store "$work/store" init "$@" > "$work/init"
    dedupdb --store "$work/store" add --quiet "$input"
    dedupdb --store "$work/store" pairs | bytewise > "$work/store.tsv"
}

export PYSPARK_SUBMIT_ARGS="--master local[2] --driver-memory 2g pyspark-shell"
timed "Spark, local[2]" spark "$@"
timed "map, sort, reduce" shell "$@"
timed "a store" store "$@"
wc -l "$work"/*.tsv
cmp "$work/spark.tsv" "$work/shell.tsv"
cmp "$work/store.tsv" "$work/shell.tsv"
echo "the pairs are the same"
