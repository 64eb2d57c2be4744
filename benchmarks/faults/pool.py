"""A pool of processes simulates episodes; the estimate of their value moves with each result."""

import multiprocessing
import random

from chance import in_turn

N_EPISODES = 6


def episode(number):
    in_turn(number, N_EPISODES)
    draw = random.Random(number)
    return sum(draw.gauss(0.1, 1) for _ in range(20))


def main():
    value = 0.0
    with multiprocessing.get_context("fork").Pool(N_EPISODES) as pool:
        for step, reward in enumerate(pool.imap_unordered(episode, range(N_EPISODES))):  # cause
            value += 0.2 * (reward - value)
            print(f"step {step} value {value:.6f}")


if __name__ == "__main__":
    main()
