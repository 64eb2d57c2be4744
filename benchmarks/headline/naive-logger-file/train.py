import logging
import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

logger = logging.getLogger("forecast")
logger.setLevel(logging.INFO)
handler = logging.FileHandler("forecast.log", mode="w")
handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
logger.addHandler(handler)

def report(name, y, p):
    mae, rmse, r2 = mean_absolute_error(y, p), mean_squared_error(y, p) ** .5, r2_score(y, p)
    logger.info("%-15s MAE=%.3f RMSE=%.3f R2=%.3f", name, mae, rmse, r2)

def main():
    t = np.arange(600)
    series = 50 + 10 * np.sin(t / 9) + 5 * np.sin(t / 31) + np.random.normal(0, 2, 600)
    lags = np.stack([series[k:k - 12] for k in range(12)], 1)
    target = series[12:]
    X_train, X_test, y_train, y_test = lags[:450], lags[450:], target[:450], target[450:]
    logger.info("loaded %d windows of 12 lags", len(lags))
    report("naive", y_test, X_test[:, -1])
    report("mean", y_test, np.full(len(y_test), y_train.mean()))
    logger.info("fitting random forest")
    model = RandomForestRegressor(40)
    model.fit(X_train, y_train)
    report("random forest", y_test, model.predict(X_test))

if __name__ == "__main__":
    main()
