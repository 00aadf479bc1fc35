"""Intervals, paired differences and single runs in Python; the numbers are proven in Rust."""

import doctest
import math
from fractions import Fraction

import numpy
import polars
import pytest

from fairq import UsageError, statistics
from fairq.statistics import batch_means, interval, paired, precision, warm_up


def test_the_examples_of_the_module_hold():
    failed, tried = doctest.testmod(statistics)
    assert failed == 0 and tried >= 6


def test_an_interval_on_the_log_scale_is_the_formula():
    values = [0.1, 0.2, 0.3]
    found = interval(values, scale="log")
    step = 4.302652729911275 * 0.1 / math.sqrt(3) / 0.2
    assert found == pytest.approx((0.2, 0.2 * math.exp(-step), 0.2 * math.exp(step), 3, 0))


def test_values_that_are_missing_are_left_out_and_counted():
    assert interval([None, 1.0, math.nan, 3.0])._replace(low=0, high=0) == (2.0, 0, 0, 2, 2)
    assert interval([None]) == (None, None, None, 0, 1)
    assert interval([7]) == (7.0, None, None, 1, 0)
    pairs = paired([1.0, None, 3.0, 4.5], [0.0, 1.0, math.nan, 3.0])
    assert (pairs.difference, pairs.count, pairs.left_out) == (1.25, 2, 2)


@pytest.mark.parametrize(
    "values", [numpy.array([1, 2, 3]), polars.Series([1.0, 2.0, 3.0]), (Fraction(1), 2, 3.0), iter([1, 2, 3])]
)
def test_arrays_series_and_iterators_are_lists_of_numbers(values):
    assert interval(values) == interval([1.0, 2.0, 3.0])


def test_a_single_run_says_its_mean_its_batches_and_its_warm_up():
    series = [20.0] * 40 + [float(at * 7 % 5) for at in range(400)]
    found = warm_up(series)
    assert found == (40, 440, 0)
    means = batch_means(series[found.cut :], batches=10)
    assert (means.mean, means.batches, means.size, means.correlated) == (2.0, 10, 40, False)


def test_a_precision_says_how_many_more_values_it_needs():
    found = precision([9.0, 11.0] * 3, target=0.5)
    assert not found.reached and found.more == 4
    assert precision([9.0, 11.0] * 5, target=0.5).reached


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: interval([0.5, 1.2], scale="logit"), "values[1]: 1.2 cannot be on the scale logit"),
        (lambda: interval([-1], scale="log"), "values[0]: -1 cannot be on the scale log, whose values are at least 0"),
        (lambda: interval([math.inf]), "values[0]: inf is too large"),
        (lambda: interval([10**400]), "values[0]: too large to average"),
        (lambda: interval([1, "2"]), "values[1]: '2' is a str; write a number"),
        (lambda: interval("12"), "values: '12' is a str; write a list of numbers"),
        (lambda: interval(3.0), "values: 3.0 is a float; write a list of numbers"),
        (lambda: interval([1], scale="linear"), 'scale: "linear" is no scale; write plain, log'),
        (lambda: interval([1], scale=None), "scale: None is a NoneType; write plain, log or logit"),
        (lambda: paired([1], [1, 2]), "a has 1 values and b has 2; pairs go by position"),
        (lambda: paired([1, 2], [1, None, 3]), "a has 2 values and b has 3"),
        (lambda: paired([0.5], [2], scale="logit"), "b[0]: 2 cannot be on the scale logit"),
        (lambda: batch_means([1.0] * 12), "12 values cannot make 20 batches"),
        (lambda: batch_means([1.0], batches=1), "one batch has no interval"),
        (lambda: batch_means([1.0], batches=-1), "batches: -1 is a int; write a whole number"),
        (lambda: precision([1.0], target=0), "a half-width of 0 of the mean is never reached"),
        (lambda: precision([1.0], target="1 %"), "target: '1 %' is a str; write a number"),
    ],
)
def test_what_cannot_be_averaged_is_one_line(call, said):
    with pytest.raises(UsageError) as error:
        call()
    assert str(error.value).startswith(said) and "\n" not in str(error.value)
