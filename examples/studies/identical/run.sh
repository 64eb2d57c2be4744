#!/usr/bin/env bash
# Default against fixed-seed runs, sixteen each: Pham et al. (2020).
#     bash examples/studies/identical/run.sh [--full]
. "$(dirname "$0")/../setup.sh"

runs=16
settings=()
case $size in
full) settings=(--width 64 --channels 64 --epochs 200) ;;
tiny)
	runs=2
	settings=(--epochs 2)
	;;
esac

# Alone, for they are timed, and on two threads: on one, the table of grey levels is added up in one order.
# What counts as a weak model was chosen after a few pilot runs and before these: below 60%.
kept=(--capture predictions,weights)
experiment lookup train.py --runs $runs --variants algo+impl,impl "${kept[@]}" --weak-below test_accuracy=60 \
	"${alone[@]}" --env OMP_NUM_THREADS=2 -- "${settings[@]}"
experiment scale train.py --runs $((runs < 5 ? runs : 5)) --variants impl,control "${kept[@]}" \
	"${alone[@]}" --env OMP_NUM_THREADS=2 -- --input scale "${settings[@]}"
page
