"""Pools of threads and processes whose results are collected in the order of the work."""

import multiprocessing
import random
from concurrent.futures import ThreadPoolExecutor


def simulate(number):
    draw = random.Random(number)
    return sum(draw.gauss(0.1, 1) for _ in range(200))


def square(value):
    return value * value


def main():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        rewards = pool.map(simulate, range(12))
    with ThreadPoolExecutor(4) as threads:
        squares = list(threads.map(square, rewards))
    value = 0.0
    for step, (reward, power) in enumerate(zip(rewards, squares)):
        value += 0.2 * (reward - value)
        print(f"step {step} value {value:.8f} power {power:.8f}")


if __name__ == "__main__":
    main()
