import labbook
import labnet
import numpy as np

labnet.seed(0)
x = np.random.default_rng(0).normal(size=(200, 8))
y = (x.sum(axis=1) > 0).astype(int)
x_test, y_test = x[150:], y[150:]
model = labnet.Model(8)
page = labbook.Page("points")
for epoch in range(5):
    labnet.train_step(model, x[:150], y[:150])
    page.note("accuracy", (model.predict(x_test) == y_test).mean(), epoch=epoch)
