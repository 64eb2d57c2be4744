import numpy as np
import statsmodels.api as sm
from sklearn.datasets import load_diabetes

data = load_diabetes(as_frame=True)
order = np.random.permutation(len(data.data))
train, test = order[:340], order[340:]
columns = ["bmi", "bp", "s5", "sex"]
X = sm.add_constant(data.data[columns])
y = data.target

results = sm.OLS(y.iloc[train], X.iloc[train]).fit()
print(results.summary())
print()
pred = results.predict(X.iloc[test])
rmse = np.sqrt(np.mean((pred - y.iloc[test]) ** 2))
mae = np.abs(pred - y.iloc[test]).mean()
print(f"Out-of-sample RMSE: {rmse:.3f}   MAE: {mae:.3f}")
