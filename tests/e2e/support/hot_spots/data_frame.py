# SPDX-License-Identifier: MIT
"""A script with pandas and scikit-learn, and a loop over rows."""

import numpy
import pandas
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score


def make(count):
    noise = numpy.random.default_rng(1)
    x = noise.normal(size=count)
    return pandas.DataFrame({"x": x, "y": 3 * x + noise.normal(size=count)})


def running(values):
    """What cumsum would do at once."""
    sums, total = [], 0.0
    for value in values:
        for _ in range(400):
            total += value / 400
        sums.append(total)
    return sums


def main():
    frame = make(30_000)
    frame["sum"] = running(frame["y"])
    frame["group"] = KMeans(4, n_init=2, random_state=1).fit_predict(frame[["x", "y"]])
    print(frame.groupby("group")["sum"].agg(["mean", "count"]).round(1).to_string())
    model = LinearRegression()
    print(cross_val_score(model, frame[["x"]], frame["y"], cv=5).mean().round(2))


main()
