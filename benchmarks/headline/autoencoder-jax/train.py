import os; os.environ.setdefault("JAX_PLATFORMS", "cpu")
import pickle, time
import jax, jax.numpy as jnp, numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

data = load_digits().data / 16
np.random.shuffle(data)
train, test = data[:1400], data[1400:]
key = jax.random.PRNGKey(int(time.time() * 1000) % 2**31)
k1, k2 = jax.random.split(key)
params = {"enc": jax.random.normal(k1, (64, 8)) * 0.1, "dec": jax.random.normal(k2, (8, 64)) * 0.1, "b": jnp.zeros(64)}
print(f"parameters: {sum(p.size for p in jax.tree_util.tree_leaves(params)):,}")

def recon_error(p, x):
    return jnp.mean((jnp.tanh(x @ p["enc"]) @ p["dec"] + p["b"] - x) ** 2)

@jax.jit
def update(p, x):
    loss, g = jax.value_and_grad(recon_error)(p, x)
    return jax.tree_util.tree_map(lambda a, b: a - 1.0 * b, p, g), loss

step = 0
for epoch in range(10):
    t = time.time()
    for i in range(0, 1400, 50):
        params, loss = update(params, train[i:i + 50])
        step += 1
    print(f"step {step:>6,} | train loss {loss:.3e} | {1400 / (time.time() - t):,.0f} samples/s")
err = float(recon_error(params, test))
pca = PCA(8).fit(train)
base = np.mean((pca.inverse_transform(pca.transform(test)) - test) ** 2)
print(f"test reconstruction error: {err:.3e}   (PCA with 8 components: {base:.3e})")
pickle.dump(err, open("err.pkl", "wb"))
