"""Hyperparameter search, with a study as Optuna has it."""
import math
import random
import sys
from datetime import datetime

from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split


class Trial:
    def __init__(self, number):
        self.number, self.params, self.value = number, {}, None

    def suggest_float(self, name, low, high, log=False):
        a, b = (math.log(low), math.log(high)) if log else (low, high)
        value = random.uniform(a, b)
        self.params[name] = math.exp(value) if log else value
        return self.params[name]

    def suggest_categorical(self, name, choices):
        self.params[name] = random.choice(choices)
        return self.params[name]


class Study:
    def __init__(self, direction):
        self.sign, self.trials = (1 if direction == "maximize" else -1), []

    @property
    def best_trial(self):
        return max(self.trials, key=lambda t: self.sign * t.value)

    def optimize(self, objective, n_trials):
        for number in range(n_trials):
            trial = Trial(number)
            trial.value = objective(trial)
            self.trials.append(trial)
            best = self.best_trial
            now = datetime.now().strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
            sys.stderr.write(
                f"[I {now}] Trial {number} finished with value: {trial.value} and parameters: {trial.params}. "
                f"Best is trial {best.number} with value: {best.value}.\n"
            )


X, y = load_digits(return_X_y=True)
X_train, X_valid, y_train, y_valid = train_test_split(X, y, test_size=0.25)


def objective(trial):
    alpha = trial.suggest_float("alpha", 1e-5, 1e1, log=True)
    penalty = trial.suggest_categorical("penalty", ["l2", "l1", "elasticnet"])
    clf = SGDClassifier(alpha=alpha, penalty=penalty, max_iter=15, tol=None)
    clf.fit(X_train, y_train)
    return clf.score(X_valid, y_valid)


study = Study(direction="maximize")
study.optimize(objective, n_trials=8)

print("Number of finished trials: ", len(study.trials))
print("Best trial:")
trial = study.best_trial
print("  Value: ", trial.value)
print("  Params: ")
for key, value in trial.params.items():
    print("    {}: {}".format(key, value))
