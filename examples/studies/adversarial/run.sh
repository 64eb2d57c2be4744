#!/usr/bin/env bash
# Two networks, two attacks in training, eight runs each: DEVIATE (Pham et al. 2021), Table I.
#     bash examples/studies/adversarial/run.sh [--full]
. "$(dirname "$0")/../setup.sh"

runs=8
settings=()
metric=(--metric test_natural_accuracy)
small=(--width 4)
wide=(--width 8)
case $size in
full)
	settings=(--size 32 --epochs 100 --steps 10)
	small=(--width 16 --blocks 5) # the layers of ResNet32
	wide=(--width 160 --blocks 5) # those of WRN32-10
	;;
tiny)
	runs=2
	settings=(--epochs 1 --size 8)
	;;
esac

# Fixed seeds are what was published: its runs differ by their kernels alone. The default runs differ by their seeds too.
both=(--runs $runs --variants algo+impl,impl "${metric[@]}" "${together[@]}")
free=(--runs $runs "${metric[@]}" "${together[@]}")
experiment small-fgsm train.py "${both[@]}" -- "${small[@]}" "${settings[@]}"
experiment wide-fgsm train.py "${both[@]}" -- "${wide[@]}" "${settings[@]}"
experiment small-pgd train.py "${free[@]}" -- "${small[@]}" "${settings[@]}" --attack pgd
experiment wide-pgd train.py "${free[@]}" -- "${wide[@]}" "${settings[@]}" --attack pgd
page
