# SPDX-License-Identifier: MIT
"""A script with pandas and scikit-learn, and a loop whose time is inside pandas."""

import numpy
import pandas
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split


def load():
    noise = numpy.random.default_rng(1)
    frame = pandas.DataFrame(noise.normal(size=(3000, 4)), columns=list("abcd"))
    frame["label"] = (frame.a + frame.b > 0).astype(int)
    return frame


def features(frame):
    """What `frame.a + frame.b` would do at once."""
    values = []
    for i in range(len(frame)):
        row = frame.iloc[i]
        values.append(max(row["a"], -3) + row["b"])
    return values


def main():
    frame = load()
    frame["sum"] = features(frame)
    parts = train_test_split(frame.drop(columns="label"), frame.label, random_state=1)
    model = RandomForestClassifier(20, random_state=1).fit(parts[0], parts[2])
    print(round(model.score(parts[1], parts[3]), 1))


main()
