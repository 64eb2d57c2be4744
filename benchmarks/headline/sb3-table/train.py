import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

env = make_vec_env("CartPole-v1", n_envs=4)
model = PPO("MlpPolicy", env, n_steps=128, batch_size=128, n_epochs=4, verbose=1, device="cpu")
model.learn(total_timesteps=2560, log_interval=1)
model.save("ppo_cartpole")
