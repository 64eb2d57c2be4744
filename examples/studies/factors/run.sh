#!/usr/bin/env bash
# Four variants with and without batch norm, sub-groups, order alone, and what determinism costs: Zhuang et al. (2022).
#     bash examples/studies/factors/run.sh [--full]
. "$(dirname "$0")/../setup.sh"

runs=8
fewer=5
settings=()
portraits=()
medium=(--network medium --norm batch --epochs 2)
batches=10,50,200,1000
timed=3
case $size in
full)
	runs=10
	fewer=10
	settings=(--size 32 --examples 50000 --epochs 200 --batch-size 128 --lr 4e-4)
	portraits=(--size 32 --width 64 --examples 20000 --epochs 20 --batch-size 128 --lr 1e-3)
	medium=(--network medium --norm batch --epochs 2 --width 16 --size 224 --examples 2000 --batch-size 64)
	batches=64,512,4096,50000
	timed=5
	;;
tiny)
	runs=2
	fewer=2
	settings=(--epochs 1 --examples 200)
	portraits=(--epochs 1 --examples 500)
	medium=(--network medium --norm batch --epochs 2 --examples 100)
	batches=50,200
	timed=2
	;;
esac

four=algo+impl,algo,impl,control
kept=(--capture predictions,weights)
for norm in none batch; do
	experiment norm-$norm train.py --runs $runs --variants $four "${kept[@]}" "${together[@]}" \
		-- --norm $norm "${settings[@]}"
done

groups=$documents/groups.csv
python attributes.py --groups "$groups" "${portraits[@]}"
experiment groups attributes.py --runs $((runs + 2)) --capture predictions --groups "$groups" "${together[@]}" \
	-- "${portraits[@]}"

# The order alone, up to one batch of all examples, where every order adds up the same numbers.
experiment order train.py --runs $fewer --variants shuffle --sweep "--batch-size=$batches" "${kept[@]}" \
	"${together[@]}" -- --norm batch "${settings[@]}"

# Alone, for they are timed.
for kernel in 1 3 5 7; do
	overhead kernel-$kernel train.py --runs $timed --profiled-runs $timed "${alone[@]}" -- "${medium[@]}" --kernel $kernel
done
page
