"""Adversarial training of a small or a wide convolutional network on handwritten digits.

The images are the 8 x 8 digits that come with scikit-learn, so nothing is downloaded. Each training step attacks the
current network and learns from the attacked images alone, as in Madry et al. (2018).
"""

import argparse
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

CHANNELS = {"small": (16, 32), "wide": (48, 96)}
PGD_STEPS = 5

loss_function = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def load_data():
    images, labels = load_digits(return_X_y=True)
    images = (images / 16.0).astype("float32").reshape(-1, 8, 8, 1)
    labels = labels.astype("int32")
    return train_test_split(images, labels, test_size=0.25, random_state=42, stratify=labels)


def build_model(network):
    first, second = CHANNELS[network]
    return tf.keras.Sequential(
        [
            tf.keras.layers.Input((8, 8, 1)),
            tf.keras.layers.Conv2D(first, 3, padding="same", activation="relu"),
            tf.keras.layers.Conv2D(second, 3, padding="same", activation="relu"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dropout(0.2),
            tf.keras.layers.Dense(10),
        ]
    )


def input_gradient(model, images, labels):
    with tf.GradientTape() as tape:
        tape.watch(images)
        loss = loss_function(labels, model(images, training=False))
    return tape.gradient(loss, images)


def fgsm(model, images, labels, epsilon):
    step = epsilon * tf.sign(input_gradient(model, images, labels))
    return tf.clip_by_value(images + step, 0.0, 1.0)


def pgd(model, images, labels, epsilon):
    attacked = images + tf.random.uniform(tf.shape(images), -epsilon, epsilon)
    for _ in range(PGD_STEPS):
        attacked += 0.5 * epsilon * tf.sign(input_gradient(model, attacked, labels))
        attacked = tf.clip_by_value(attacked, images - epsilon, images + epsilon)
        attacked = tf.clip_by_value(attacked, 0.0, 1.0)
    return attacked


ATTACKS = {"fgsm": fgsm, "pgd": pgd}


@tf.function
def train_step(model, optimizer, images, labels, attack, epsilon):
    attacked = attack(model, images, labels, epsilon)
    with tf.GradientTape() as tape:
        loss = loss_function(labels, model(attacked, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def count_correct(model, images, labels, attack, epsilon):
    attacked = attack(model, images, labels, epsilon)
    natural = tf.argmax(model(images, training=False), axis=1, output_type=tf.int32)
    adversarial = tf.argmax(model(attacked, training=False), axis=1, output_type=tf.int32)
    return tf.math.count_nonzero(natural == labels), tf.math.count_nonzero(adversarial == labels)


def evaluate(model, images, labels, attack, epsilon, split):
    natural, adversarial = count_correct(model, tf.constant(images), tf.constant(labels), attack, epsilon)
    natural_accuracy = int(natural) / len(labels)
    adversarial_accuracy = int(adversarial) / len(labels)
    print(f"  {split:5s} natural accuracy {natural_accuracy:.4f}  adversarial accuracy {adversarial_accuracy:.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", choices=sorted(CHANNELS), default="small")
    parser.add_argument("--attack", choices=sorted(ATTACKS), default="fgsm")
    parser.add_argument("--epsilon", type=float, default=0.15, help="largest change of a pixel, of a range of 1")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--weights", default="weights.npz", help="file for the final weights")
    args = parser.parse_args()

    tf.keras.utils.set_random_seed(args.seed)
    x_train, x_test, y_train, y_test = load_data()
    batches = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(len(x_train)).batch(args.batch_size)

    model = build_model(args.network)
    optimizer = tf.keras.optimizers.Adam(args.learning_rate)
    attack = ATTACKS[args.attack]
    print(f"{args.network} network, {model.count_params()} parameters, {args.attack} attack")

    for epoch in range(1, args.epochs + 1):
        start = time.time()
        losses = []
        for images, labels in batches:
            losses.append(train_step(model, optimizer, images, labels, attack, args.epsilon))
        loss = float(tf.reduce_mean(losses))
        print(f"epoch {epoch:2d}  loss {loss:.4f}  time {time.time() - start:.2f}s")
        evaluate(model, x_train, y_train, attack, args.epsilon, "train")
        evaluate(model, x_test, y_test, attack, args.epsilon, "test")

    np.savez(args.weights, *model.get_weights())


if __name__ == "__main__":
    main()
