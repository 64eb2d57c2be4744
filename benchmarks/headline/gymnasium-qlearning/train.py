import gymnasium as gym
import numpy as np

env = gym.make("FrozenLake-v1", map_name="4x4", is_slippery=True)
Q = np.zeros((env.observation_space.n, env.action_space.n))
alpha, gamma, epsilon = 0.2, 0.98, 1.0
returns = []
for episode in range(1, 3001):
    state, _ = env.reset()
    total, done = 0.0, False
    while not done:
        action = env.action_space.sample() if np.random.rand() < epsilon else int(Q[state].argmax())
        nxt, reward, terminated, truncated, _ = env.step(action)
        Q[state, action] += alpha * (reward + gamma * Q[nxt].max() * (not terminated) - Q[state, action])
        state, total, done = nxt, total + reward, terminated or truncated
    epsilon = max(0.05, epsilon * 0.999)
    returns.append(total)
    if episode % 500 == 0:
        print("Episode: {:>5}  Avg reward (last 500): {:.3f}  Epsilon: {:.3f}".format(episode, np.mean(returns[-500:]), epsilon))

print("\nEvaluating the greedy policy ...")
scores, lengths = [], []
for _ in range(200):
    state, _ = env.reset()
    total, length, done = 0.0, 0, False
    while not done:
        state, reward, terminated, truncated, _ = env.step(int(Q[state].argmax()))
        total, length, done = total + reward, length + 1, terminated or truncated
    scores.append(total)
    lengths.append(length)
print("Evaluation over 200 episodes: mean reward = {:.3f} +/- {:.3f}, mean length = {:.1f}".format(
    np.mean(scores), np.std(scores), np.mean(lengths)))
env.close()
