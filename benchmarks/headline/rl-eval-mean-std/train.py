import numpy as np

class Corridor:
    """Walk to the right end; slippery."""
    n = 7
    def reset(self):
        self.s, self.t = 3, 0
        return self.s
    def step(self, a):
        move = (1 if a else -1) * (1 if np.random.rand() > .25 else -1)
        self.s += move; self.t += 1
        done = self.s in (0, self.n - 1) or self.t >= 30
        return self.s, (10. if self.s == self.n - 1 else -0.5 + 0.1 * np.random.randn()), done

env, theta, running = Corridor(), np.zeros((7, 2)), 0.0
def policy(s):
    e = np.exp(theta[s] - theta[s].max()); return e / e.sum()
def rollout(greedy=False):
    s, done, traj = env.reset(), False, []
    while not done:
        a = int(policy(s).argmax()) if greedy else np.random.choice(2, p=policy(s))
        s2, r, done = env.step(a)
        traj.append((s, a, r)); s = s2
    return traj

for ep in range(1, 301):
    traj = rollout()
    G = 0
    for s, a, r in reversed(traj):
        G = r + 0.99 * G
        grad = -policy(s); grad[a] += 1
        theta[s] += 0.02 * G * grad
    total = sum(r for *_, r in traj)
    running = 0.05 * total + 0.95 * running
    if ep % 50 == 0:
        print(f"Episode {ep}\tLast reward: {total:.2f}\tRunning reward: {running:.2f}")

evals = [sum(r for *_, r in rollout(greedy=True)) for _ in range(20)]
print("=" * 50)
print(f"Evaluation over {len(evals)} episodes: {np.mean(evals):.2f} +- {np.std(evals):.2f} (min {min(evals):.1f}, max {max(evals):.1f})")
