"""Value iteration with a cache, on states that are objects in dicts."""

import functools
import os


class State:
    def __init__(self, number):
        self.number = number


states = {number: State(number) for number in range(30)}
seen = {state: 0 for state in states.values()}
user = os.environ.get("USER", "nobody")
print(f"run by {user}")


@functools.lru_cache(maxsize=None)
def reward(number):
    return 1.0 if number == 29 else -0.01 * (number % 3)


values = dict.fromkeys(states, 0.0)
for sweep in range(10):
    change = 0.0
    for number, state in states.items():
        seen[state] += 1
        best = max(values[max(number - 1, 0)], values[min(number + 1, 29)])
        new = reward(number) + 0.9 * best
        change, values[number] = max(change, abs(new - values[number])), new
    print(f"sweep {sweep} change {change:.10f}")
