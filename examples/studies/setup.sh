# What the studies share; each run.sh begins with it. Sets: size (small, full or tiny), prefix of the names, flags.
set -euo pipefail
cd "$(dirname "$0")"
study=$(basename "$PWD")
# The project of the runs is this folder, not the clone around it: records stay good when the rest of the clone changes.
# To look at them by hand: `export GIT_CEILING_DIRECTORIES=$(dirname "$PWD")` in this folder, then `deviate list`.
GIT_CEILING_DIRECTORIES=$(dirname "$PWD")
export GIT_CEILING_DIRECTORIES
size=small
case "${1:-}" in
"") ;;
--full) size=full ;; # as published as far as it goes, for a machine with an accelerator
--tiny) size=tiny ;; # whether everything works, in a minute or two; the numbers mean nothing
*)
	echo "usage: bash $0 [--full|--tiny]" >&2
	exit 2
	;;
esac
prefix=study-$study
[ "$size" = small ] || prefix=$prefix-$size
# Runs beside others are slower, and it is said: the load before the first run, whenever the page is made.
mkdir -p .deviate
[ -e ".deviate/load-$size" ] || cut -d" " -f1 /proc/loadavg >".deviate/load-$size" 2>/dev/null || echo unknown >".deviate/load-$size"
before=$(cat ".deviate/load-$size")

# Where nothing is timed and no kernel needs two threads, one run per core on one thread each is fastest.
together=(--jobs "$(nproc 2>/dev/null || echo 2)" --env OMP_NUM_THREADS=1)
alone=(--jobs 1)
if [ "$size" = full ] && command -v nvidia-smi >/dev/null; then
	together=(--gpus auto)
	alone=(--gpus auto)
fi

# What deviate found, for the page. It is made anew from the records by the same command, which then runs nothing.
documents=$(mktemp -d)
trap 'rm -rf "$documents"' EXIT

# An experiment: its name within the study, then what `deviate run` takes. What is on record is not run again.
experiment() {
	local name=$1
	shift
	echo "== $prefix-$name" >&2
	deviate run --name "$prefix-$name" --keep none --quiet --metric test_accuracy \
		--json "$documents/$name.json" "$@" >/dev/null
}

# What determinism costs: its name within the study, then what `deviate overhead` takes.
overhead() {
	local name=$1
	shift
	echo "== $prefix-$name" >&2
	deviate overhead --name "$prefix-$name" --quiet --json "$documents/$name.json" "$@" >/dev/null
}

# The page of results, from the documents and the records of the runs.
page() {
	local output=../../../docs/results
	[ "$size" != tiny ] || output=$documents
	python ../pages "$study" --size "$size" --documents "$documents" --output "$output" --load "$before"
	[ "$size" != tiny ] || cat "$documents"/*.md
}
