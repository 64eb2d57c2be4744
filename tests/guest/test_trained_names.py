"""Weights are told from examples by what the text does to their names: `# w` marks draws of weights, `# x` others."""

import ast

import pytest

from deviate.guest.statements import find_statement
from deviate.guest.trained_names import TrainedNames

BY_NAME = """\
X = rng.normal(size=(50, 2))                               # x
y = X @ true + 0.1 * rng.normal(size=50)                   # x
X = X - X.mean(0)
for j in range(2):
    X[:, j] = X[:, j] / X[:, j].std()
W1, b1 = 0.1 * rng.normal(size=(2, 4)), np.zeros(4)        # w
W2 = rng.normal(size=4)                                    # w
for epoch in range(9):
    order = rng.permutation(50)
    X, y = X[order], y[order]
    for i in range(50):
        h = np.tanh(X[i] @ W1 + b1)
        error = h @ W2 - y[i]
        W2 = W2 - 0.1 * error * h
        W1 -= 0.1 * np.outer(X[i], error * W2 * (1 - h**2))
print(W1, X)
"""
BY_DICT = """\
def initialize_parameters(n):
    parameters = {}
    parameters["W1"] = np.random.randn(n, 2) * 0.01        # w
    parameters["b1"] = np.zeros((n, 1))
    return parameters
def update_parameters(parameters, grads, learning_rate):
    W1 = parameters["W1"] - learning_rate * grads["dW1"]
    return {"W1": W1}
def load_dataset():
    X = np.random.randn(2, 90)                             # x
    return X, X.sum(0) > 0
def model(X, Y):
    parameters = initialize_parameters(4)
    for i in range(100):
        grads = backward(parameters, forward(X, parameters), X, Y)
        parameters = update_parameters(parameters, grads, 1.2)
    return parameters
X, Y = load_dataset()
parameters = model(X, Y)
"""
BY_CLASS = """\
class Network:
    def __init__(self, sizes):
        self.weights = [np.random.randn(b, a) for a, b in zip(sizes, sizes[1:])]  # w
        self.biases = [np.random.randn(b, 1) for b in sizes[1:]]                  # w
    def SGD(self, training_data, epochs):
        for j in range(epochs):
            random.shuffle(training_data)
            self.update_mini_batch(training_data, 3.0)
    def update_mini_batch(self, batch, eta):
        nabla_b, nabla_w = self.backprop(batch)
        self.weights = [w - eta * nw for w, nw in zip(self.weights, nabla_w)]
        self.biases = [b - eta * nb for b, nb in zip(self.biases, nabla_b)]
class Noisy:
    def __init__(self, n):
        self.data = np.random.randn(n)                     # x
        self.data = (self.data - 1) / 2
    def __len__(self): return len(self.data)
    def __getitem__(self, i): return self.data[i]
net = Network([2, 3, 1])
net.SGD(Noisy(9), 3)
"""
BY_ZIP = """\
Wxh = np.random.randn(4, 9) * 0.01                         # w
Whh = np.random.randn(4, 4) * 0.01                         # w
text = [random.choice("ab") for _ in range(99)]            # x
n = 0
while n < 100:
    dWxh, dWhh = loss_of(text[n:n + 9], Wxh, Whh)
    for param, dparam in zip([Wxh, Whh], [dWxh, dWhh]):
        param += -0.1 * dparam
    n += 1
"""
BY_VALUE = """\
class Value:
    def __init__(self, data): self.data = data
class Neuron:
    def __init__(self, nin):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(nin)]  # w
    def __call__(self, x): return sum(w * v for w, v in zip(self.w, x))
    def parameters(self): return self.w
points = [(random.random(), random.random()) for _ in range(9)]      # x
n = Neuron(2)
for k in range(20):
    loss = sum((n(p) - 1) ** 2 for p in points)
    loss.backward()
    for p in n.parameters():
        p.data -= 0.1 * p.grad
"""
BY_FUNCTION = """\
def sgd(params, lr, size):
    with torch.no_grad():
        for param in params:
            param -= lr * param.grad / size
            param.grad.zero_()
def standardize(values):
    values -= values.mean()
    return values
features = torch.randn(50, 2)                              # x
standardize(features)
w = torch.normal(0, 0.01, size=(2, 1))                     # w
v = torch.randn(2, requires_grad=True)                     # w
u = torch.randn(2)                                         # w
optimizer = torch.optim.Adam([u], lr=0.1)
for epoch in range(3):
    loss = ((features @ w - features @ v + u.sum()) ** 2).mean()
    loss.backward()
    sgd([w, b], 0.1, 10)
    optimizer.step()
"""
BY_LAYERS = """\
class Linear:
    def __init__(self, a, b):
        self.W = rng.normal(size=(a, b))                   # w
    def forward(self, x):
        self.x = x
        return x @ self.W
class SGD:
    def step(self, layers):
        for layer in layers:
            layer.W -= self.lr * layer.dW
x = rng.normal(size=(9, 2))                                # x
layers = [Linear(2, 3), Linear(3, 1)]
for step in range(9):
    optimizer.step(layers)
"""
OTHERS = """\
points = rng.normal(size=(90, 2))                          # x
centres = points[rng.choice(90, 3, replace=False)]         # w
Q = rng.uniform(size=(5, 2))                               # w
series = [rng.normal()]                                    # x
state = rng.normal()                                       # x
for t in range(99):
    state = 0.9 * state + rng.normal()
    series.append(state)
for step in range(9):
    nearest = ((points[:, None] - centres) ** 2).sum(2).argmin(1)
    centres = np.array([points[nearest == k].mean(0) for k in range(3)])
for episode in range(9):
    s = 0
    while s < 4:
        Q[s, a] += 0.1 * (r + Q[s + 1].max() - Q[s, a])
        s += 1
"""


@pytest.mark.parametrize(
    "text", [BY_NAME, BY_DICT, BY_CLASS, BY_ZIP, BY_VALUE, BY_FUNCTION, BY_LAYERS, OTHERS], ids=range(8)
)
def test_weights_are_what_training_changes(text: str) -> None:
    tree = ast.parse(text)
    names = TrainedNames({"train.py": tree}, {})
    found, expected = {}, {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.endswith((" # w", " # x")):
            expected[number] = line[-1]
            found[number] = "w" if _is_trained(names, tree, number) else "x"
    assert found == expected


def _is_trained(names: TrainedNames, tree: ast.Module, line: int) -> bool:
    """Whether the statement of a line, or one that receives what its function returns, makes weights."""
    scope, statement = find_statement(tree, line)
    if names.is_trained("train.py", scope, statement):
        return True
    called = getattr(scope, "name", "no function")
    callers = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and f"{called}(" in ast.unparse(node)]
    return any(names.is_trained("train.py", *find_statement(tree, node.lineno)) for node in callers)


def test_elements_that_a_loop_visits_once_and_sums_are_no_training() -> None:
    text = "x = [0.0] * 9\ntotal = 0.0\nfor i in range(9):\n    x[i] = x[i] / 2\n    total += x[i]\n"
    assert TrainedNames({"train.py": ast.parse(text)}, {}).training_loops("train.py") == []
