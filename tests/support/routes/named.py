"""Routes that no variant varies or holds, each of which is named with file and line."""

import os
import random
import secrets
import uuid

import keras
import networkx as nx
import numpy as np

X = np.sin(np.arange(180.0)).reshape(60, 3)
os.urandom(3)
secrets.randbits(8)
uuid.uuid4()
random.SystemRandom().random()
nx.fast_gnp_random_graph(9, 0.5, seed=3)
keras.utils.timeseries_dataset_from_array(X, None, 3, shuffle=True, seed=113)
