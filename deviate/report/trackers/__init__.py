"""Experiment trackers as readers: the aggregate of experiments is written as runs of TensorBoard, wandb or MLflow."""
