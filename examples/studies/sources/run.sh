#!/usr/bin/env bash
# One source of randomness at a time, down to one bit; snapshots and test-time augmentation: Summers & Dinneen (2021).
#     bash examples/studies/sources/run.sh [--full]
. "$(dirname "$0")/../setup.sh"

runs=8
settings=()
cycles=(--cycles 3 --epochs 24)
every=8
late=8
copies=flip,crop_mnist,flip_crop_mnist # the last two move by one pixel
case $size in
full)
	runs=100
	settings=(--size 32 --border 4 --examples 5000 --width 16 --blocks 2 --epochs 500 --batch-size 512 --lr 0.4 --warm-up 3)
	cycles=(--cycles 5)
	every=100
	late=250
	copies=flip,crop25,flip_crop25
	;;
tiny)
	runs=2
	settings=(--epochs 2 --examples 200)
	cycles=(--cycles 2)
	every=1
	late=1
	;;
esac

kept=(--capture predictions,weights)
sources=init,shuffle,augment,dropout,one-bit,one-bit@$late,algo+impl,control
experiment one train.py --runs $runs --variants $sources "${kept[@]}" --capture-every $every --tta $copies \
	"${together[@]}" -- "${settings[@]}"
experiment cycles train.py --runs $runs "${kept[@]}" --capture-every $every --tta $copies \
	"${together[@]}" -- "${settings[@]}" "${cycles[@]}"
page
