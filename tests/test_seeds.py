"""Where randomness comes from."""

from __future__ import annotations

import numpy as np
import pytest

from dueto.errors import InputError
from dueto.seeds import generator


def test_a_generator_is_used_and_a_seed_always_means_the_same_one():
    rng = np.random.default_rng(3)
    assert generator(rng) is rng
    for seed in (0, 7, np.int64(7), 2**80):
        assert generator(seed).random() == np.random.default_rng(seed).random()


def test_none_is_a_generator_that_nobody_can_repeat():
    assert generator(None).random() != generator(None).random()


@pytest.mark.parametrize(("rng", "kind"), [(-1, InputError), ("0", TypeError), (1.5, TypeError), ({}, TypeError)])
def test_what_is_neither_is_refused(rng, kind):
    with pytest.raises(kind, match="rng must be a Generator or a seed"):
        generator(rng)
