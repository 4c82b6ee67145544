"""Sentences: what a constraint says, word for word."""

from __future__ import annotations

import pytest

from dueto.plaf import cf, fixed, parse, x


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        # movement from the present value
        ("cf.age >= x.age", "age may not fall"),
        ("cf.age <= x.age", "age may not rise"),
        ("cf.age > x.age", "age must rise"),
        ("cf.age < x.age", "age must fall"),
        ("cf.age = x.age", "age must stay the same"),
        ("cf.age != x.age", "age must change"),
        ("x.age <= cf.age", "age may not fall"),
        ("not cf.age = x.age", "age must change"),
        ("not cf.age != x.age", "age must stay the same"),
        ("not cf.age > x.age", "it must not be that age rises"),
        ('fixed("sex")', "sex must stay the same"),
        ('fixed("sex", "race", "native country")', "sex, race and native country must stay the same"),
        # bounds
        ("cf.age >= 18", "age must be at least 18"),
        ("cf.age < 65.0", "age must be less than 65"),
        ("cf.rate <= 0.1", "rate must be at most 0.1"),
        ("18 <= cf.age <= 65", "age must be between 18 and 65"),
        ("18 < cf.age <= 65", "age must be more than 18 and at most 65"),
        ("not cf.age > 65", "age must not be more than 65"),
        ("not 18 <= cf.age <= 65", "it must not be that (age is between 18 and 65)"),
        ("cf.age >= x.age + 4", "age must be at least its present value + 4"),
        ("x.age * 2 >= cf.age", "age must be at most its present value * 2"),
        ("cf.rent <= x.income / 3", "rent must be at most (the present income) / 3"),
        ("cf.rent >= cf.rent", "rent must be at least rent"),
        ("cf.rent < cf.income", "rent must be less than income"),
        ("cf.a = x.b", "a must be the present b"),
        ("cf.a - x.a <= 5", "the change in a must be at most 5"),
        ("2 * (cf.a - x.a) <= cf.b", "b must be at least 2 * (the change in a)"),
        ("cf.a - (cf.b - 1) > -cf.c", "a - (b - 1) must be more than -c"),
        # labels and missing values
        ('cf.job = "clerk"', 'job must be "clerk"'),
        ('cf.job != "clerk"', 'job must not be "clerk"'),
        ('not cf.job = "clerk"', 'job must not be "clerk"'),
        ("cf.member = true", "member must be true"),
        ('cf.job in ["clerk"]', 'job must be "clerk"'),
        ('cf.job in ["clerk", "nurse", missing]', 'job must be "clerk", "nurse" or missing'),
        ('cf.job not in ["clerk"]', 'job must not be "clerk"'),
        ('cf.job not in ["clerk", "nurse"]', 'job must be none of "clerk" and "nurse"'),
        ("cf.income.missing()", "income must be missing"),
        ("not cf.income.missing()", "income must not be missing"),
        # implications
        (
            "cf.education > x.education => cf.age >= x.age + 4",
            "if education rises, age must be at least its present value + 4",
        ),
        ("x.age >= 30 => cf.job = x.job", "if the present age is at least 30, job must stay the same"),
        ("cf.a >= x.a => cf.b <= x.b", "if a does not fall, b may not rise"),
        ("cf.a <= x.a => cf.b != x.b", "if a does not rise, b must change"),
        ("cf.a < x.a => cf.b = x.b", "if a falls, b must stay the same"),
        (
            "cf.a = x.a and cf.b != x.b => cf.c > 1",
            "if a stays the same and b changes, c must be more than 1",
        ),
        ('fixed("a") => fixed("b", "c")', "if a stays the same, b and c must stay the same"),
        ('fixed("b", "c") => fixed("a")', "if b and c stay the same, a must stay the same"),
        (
            "not cf.a.missing() and not cf.b > 1 => cf.c > 1",
            "if a is not missing and b is not more than 1, c must be more than 1",
        ),
        ('cf.job in ["a", "b"] => cf.c > 1', 'if job is "a" or "b", c must be more than 1'),
        ("cf.a > x.a => cf.b > x.b => cf.c > x.c", "if a rises, then if b rises, c must rise"),
        ("(cf.a > x.a => cf.b > x.b) => cf.c > x.c", "if b rises whenever a rises, c must rise"),
        # joined: brackets wherever a part would run into its neighbour
        ("cf.a > 1 and cf.b >= x.b", "a must be more than 1 and b may not fall"),
        ("1 <= cf.a <= 3 and cf.b > x.b", "a must be between 1 and 3 and b must rise"),
        ("cf.a > 1 or cf.b > x.b", "either a must be more than 1 or b must rise"),
        (
            "(cf.a > x.a or cf.b > x.b) and cf.c > x.c",
            "(either a must rise or b must rise) and c must rise",
        ),
        (
            "cf.a > x.a and cf.b > x.b or cf.c > x.c",
            "either (a must rise and b must rise) or c must rise",
        ),
        ("not (cf.a > x.a or cf.b > x.b)", "it must not be that (a rises or b rises)"),
        (
            "not cf.a > x.a and cf.b > x.b",
            "(it must not be that a rises) and b must rise",
        ),
        ("not cf.a > x.a => cf.b > x.b", "if it is not so that a rises, b must rise"),
        (
            'together("city", "postcode")',
            "city and postcode must change together, only to combinations seen in the data",
        ),
    ],
)
def test_it_says_what_it_means(text, sentence):
    assert parse(text).sentence() == sentence


def test_a_value_has_a_phrase():
    assert (x.age + 4).sentence() == "(the present age) + 4"
    assert cf["capital-gain"].sentence() == "capital-gain"


def test_numbers_keep_every_digit():
    assert (cf.a <= 0.1 + 0.2).sentence() == "a must be at most 0.30000000000000004"
    assert (cf.a <= 7e-4).sentence() == "a must be at most 0.0007"
    assert fixed("a").sentence() == "a must stay the same"
