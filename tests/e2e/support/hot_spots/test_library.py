# SPDX-License-Identifier: MIT
import pytest
from library import distance, nearest

WORDS = [f"{a}{b}{a}" * 20 for a in ("ab", "xyz", "mno") for b in ("k", "lm", "pqrs")]


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_nearest_to_itself(word):
    assert nearest(word, WORDS) == word


@pytest.mark.parametrize("size", range(20))
def test_the_distance_of_a_prefix_is_what_is_missing(size, tmp_path):
    (tmp_path / "word").write_text("a" * size)
    assert distance("a" * 20, (tmp_path / "word").read_text()) == 20 - size
