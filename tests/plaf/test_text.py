"""Text and back: what is printed is read as the same tree, and what cannot be read is told with its place."""

from __future__ import annotations

import pickle
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dueto import InputError
from dueto.plaf import ConstraintError, Neg, Term, cf, fixed, parse, parse_constraints, together, x
from trials import trials

ODD_NAMES = "age capital-gain class missing true cf _a 3 l·l \ufb01 ² été"
NAMES = st.one_of(
    st.sampled_from(ODD_NAMES.split()),
    st.sampled_from(["hours per week", 'a"b', ""]),
    st.text(max_size=6),
    st.text(st.characters(codec=None), max_size=4),  # lone surrogates too
)
NUMBERS = st.one_of(
    st.integers(-3, 3), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.just(1_000_000)
)
TEXTS = st.one_of(st.text(max_size=8), st.sampled_from(["\\", "\\'", '"', "'\"", "\n", "a\\n", "\u2028", "\udc80"]))
CONSTANTS = st.one_of(NUMBERS, st.booleans(), TEXTS)
REFS = st.builds(lambda side, name: side[name], st.sampled_from([cf, x]), NAMES)


def _arithmetic(parts):
    numbers = st.one_of(parts, NUMBERS)
    pairs = st.tuples(parts, numbers).flatmap(st.permutations)
    return st.one_of(
        parts.map(lambda a: -a),
        pairs.map(lambda p: p[0] + p[1]),
        pairs.map(lambda p: p[0] - p[1]),
        pairs.map(lambda p: p[0] * p[1]),
        pairs.map(lambda p: p[0] / p[1]),
    )


TERMS = st.recursive(REFS, _arithmetic, max_leaves=6)
COMPARISONS = st.tuples(TERMS, st.one_of(TERMS, CONSTANTS), st.sampled_from(["<", "<=", ">", ">=", "==", "!="])).map(
    lambda t: {
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
    }[t[2]](t[0], t[1])
)
LISTS = st.lists(st.one_of(CONSTANTS, st.none()), min_size=1, max_size=4)
ATOMS = st.one_of(
    COMPARISONS,
    st.builds(lambda term, values: term.isin(values), TERMS, LISTS),
    st.builds(lambda term, a, b: term.between(min(a, b), max(a, b)), TERMS, NUMBERS, NUMBERS),
    TERMS.map(lambda term: term.missing()),
    st.lists(NAMES, min_size=1, max_size=3).map(lambda names: fixed(*names)),
)
PREDICATES = st.recursive(
    ATOMS,
    lambda parts: st.one_of(
        parts.map(lambda a: ~a),
        st.tuples(parts, parts).map(lambda p: p[0] & p[1]),
        st.tuples(parts, parts).map(lambda p: p[0] | p[1]),
        st.tuples(parts, parts).map(lambda p: p[0].implies(p[1])),
    ),
    max_leaves=8,
)
TOGETHER = st.lists(NAMES, min_size=2, max_size=3, unique=True).map(lambda names: together(*names))


@trials(600)
@given(st.one_of(PREDICATES, TERMS, TOGETHER))
def test_what_is_printed_is_read_as_the_same_tree(expr):
    assert parse(str(expr)).same(expr)
    assert parse(f"\n  ({expr})  # remark\n").same(expr)


@trials(150)
@given(st.lists(PREDICATES, max_size=4))
def test_a_file_is_read_as_its_lines(constraints):
    text = "\n\n".join(f"  {constraint}  # a remark" for constraint in constraints)
    found = parse_constraints(text)
    assert len(found) == len(constraints)
    assert all(a.same(b) for a, b in zip(found, constraints, strict=True))


@trials(300)
@given(PREDICATES)
def test_every_constraint_has_a_sentence(expr):
    assert expr.sentence()


@pytest.mark.parametrize(
    ("built", "text"),
    [
        (cf.a - (cf.b - cf.c), "cf.a - (cf.b - cf.c)"),
        (cf.a - cf.b - cf.c, "cf.a - cf.b - cf.c"),
        (cf.a / (cf.b * cf.c), "cf.a / (cf.b * cf.c)"),
        (cf.a * cf.b / cf.c, "cf.a * cf.b / cf.c"),
        ((cf.a + 1) * -2, "(cf.a + 1) * -2"),
        (-(cf.a * 2), "-(cf.a * 2)"),
        (-cf.a * 2, "-cf.a * 2"),
        (Neg(-cf.a), "--cf.a"),
        (cf.a.between(18, 65), "18 <= cf.a <= 65"),
        ((cf.a > -1) & (cf.a < 1), "-1 < cf.a < 1"),
        ((cf.a > 1) & (cf.b < 2), "cf.a > 1 and cf.b < 2"),
        (((cf.a > 1) | (cf.b > 1)) & (cf.c > 1), "(cf.a > 1 or cf.b > 1) and cf.c > 1"),
        ((cf.a > 1) & (cf.b > 1) | (cf.c > 1), "cf.a > 1 and cf.b > 1 or cf.c > 1"),
        (~((cf.a > 1) & (cf.b > 1)), "not (cf.a > 1 and cf.b > 1)"),
        (~(cf.a > 1), "not cf.a > 1"),
        (~cf.a.isin(["b", 2, None]), 'cf.a not in ["b", 2, missing]'),
        (~cf.a.missing() & ~(cf.a - 1).missing(), "not cf.a.missing() and not (cf.a - 1).missing()"),
        ((cf.a > 1).implies((cf.b > 1).implies(cf.c > 1)), "cf.a > 1 => cf.b > 1 => cf.c > 1"),
        (((cf.a > 1).implies(cf.b > 1)).implies(cf.c > 1), "(cf.a > 1 => cf.b > 1) => cf.c > 1"),
        ((cf.a > 1).implies(cf.b > 1) | (cf.c > 1), "(cf.a > 1 => cf.b > 1) or cf.c > 1"),
        (cf["a b"] == 'don\'t "x"\n', r'cf["a b"] == "don' + "'" + r't \"x\"\n"'),
        (cf["class"] != True, 'cf["class"] != True'),  # noqa: E712
        (fixed("a", "é"), 'fixed("a", "é")'),
    ],
)
def test_text_has_the_fewest_brackets(built, text):
    assert str(built) == repr(built) == text
    assert parse(text).same(built)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("cf.a = x.a", "cf.a == x.a"),
        ("18 <= cf.a < 65", "cf.a >= 18 and cf.a < 65"),
        ("cf.a < cf.b == cf.c", "cf.a < cf.b and cf.b == cf.c"),
        ("cf.a.between(18, 65)", "18 <= cf.a <= 65"),
        ("cf.a.isin(['b'])", 'cf.a in ["b"]'),
        ("cf.a in ('b', 'c')", 'cf.a in ["b", "c"]'),
        ("(cf.a > 1).implies(cf.b > 1)", "cf.a > 1 => cf.b > 1"),
        ("(cf.a > 1) & ~(cf.b > 1) | fixed('c')", 'cf.a > 1 and not cf.b > 1 or fixed("c")'),
        ("cf.a == missing", "cf.a.missing()"),
        ("cf.a != None", "not cf.a.missing()"),
        ("cf.a = true and cf.b = False", "cf.a == True and cf.b == False"),
        ("cf.a <= 1_000_000", "cf.a <= 1000000"),
        ("cf.a <= +1e3", "cf.a <= 1000.0"),
        ("(cf.a > 1\n   => # why not\n cf.b = 2)", "cf.a > 1 => cf.b == 2"),
        ("cf[3] > cf['x y']", 'cf["3"] > cf["x y"]'),
        ("cf.missing > cf.x", "cf.missing > cf.x"),
        ("\ufeffcf.a > 1\r\n", "cf.a > 1"),
        (
            "not cf.a > 1 => cf.b > 1 and cf.c > 1 or cf.d > 1",
            "(not cf.a > 1) => ((cf.b > 1 and cf.c > 1) or cf.d > 1)",
        ),
    ],
)
def test_other_ways_to_write_it(written, meant):
    assert parse(written).same(parse(meant))


def test_a_file_has_comments_blank_lines_and_continuation_in_brackets():
    text = """
    # the law
    fixed("sex")   # never "sex"

    cf.job in ["clerk",   # one
               "nurse"]
\tcf.age >= x.age
    (cf.a > 1
        => cf.b > 1)
    together("a", "b")
    """
    assert [str(c) for c in parse_constraints(text)] == [
        'fixed("sex")',
        'cf.job in ["clerk", "nurse"]',
        "cf.age >= x.age",
        "cf.a > 1 => cf.b > 1",
        'together("a", "b")',
    ]
    assert parse_constraints("") == parse_constraints("# nothing\n\n") == ()


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("age >= 3", 1, "write cf.age for the proposed value or x.age for the present one"),
        ("cf.a = x.a and age = 3", 16, "write cf.age"),
        ("cf.éééééé = x.éééééé and age = (cf.b)", 26, "write cf.age"),
        ("cf.capital-gain > 3", 12, 'write cf["capital-gain"]'),
        ("cf.hours-per-week > 3", 14, 'write cf["hours-per-week"]'),
        ("cf.hours.week > 3", 1, 'write cf["hours.week"]'),
        ("cf.hours per week > 3", 10, 'cf["hours per week"]'),
        ("cf.2nd > 3", 3, 'as in cf["2nd"]'),
        ("cf.class > 3", 4, 'write cf["class"]'),
        ("CF.age > 3", 1, "written cf.age or x.age"),
        ("cf > 3", 1, "cf needs a feature"),
        ("cf.a > 3 AND cf.b > 3", 10, "write and for AND"),
        ("cf.a > 3 && cf.b > 3", 10, "write and"),
        ("cf.a > 3 & cf.b > 3", 8, "brackets around each comparison"),
        ("cf.a ≥ 3", 6, "write >="),
        ("cf.a =< 3", 6, "write <="),
        ("cf.a => 3", 1, "'at least' is written >="),
        ("cf.a > 1 -> cf.b > 1", 10, "write =>"),
        ("if cf.a > 1 then cf.b > 1", 1, "write A => B"),
        ("cf.a > 1 if ... else cf.b > 1", 10, "write A => B"),
        ("cf.a is None", 6, r".missing()"),
        ("cf.a == nan", 9, r"cf.income.missing()"),
        ("cf.a > 1e999", 8, "finite"),
        ("cf.a > " + "9" * 5000, 8, "at most 1000"),
        ("cf.a > 1,000", 1, "1_000_000"),
        ("cf.a >", 6, "something is missing after >"),
        ("cf.a > 1 =>", 10, "something is missing after =>"),
        ("=> cf.a > 1", 1, "=> cannot stand here"),
        ("cf.a and or cf.b", 10, "or cannot stand here"),
        ("(cf.a > 1", 1, "this ( is never closed"),
        ('cf.a = 1 and cf["b > 1', 17, "this text is never closed"),
        ("cf.a = 1)", 9, "this ) closes nothing"),
        ("[cf.a > 1)", 10, "cannot close the [ of line 1, column 1"),
        ("cf.job in 'abc'", 11, "a list must follow in"),
        ("cf.job in ['a' 'b']", 16, "a comma is missing"),
        ("cf.job in ['a', cf.b]", 17, "constants only"),
        ("cf.job in ['a', b]", 17, 'b alone is ambiguous: write "b" in quotes for a label'),
        ("cf.job = clerk", 10, 'write "clerk" in quotes for a label, and cf.clerk or x.clerk for a feature'),
        ("cf.job != clerk => cf.a > 1", 11, 'write "clerk" in quotes for a label'),
        ("cf.a > b", 8, "write cf.b for the proposed value or x.b"),
        ("cf.job = TRUE", 10, "write true"),
        ("cf.km/year <= 3", 7, 'write cf["km/year"] if km/year is one name, else cf.year or x.year'),
        ("cf.a > 1 and x.a+b > 3", 18, 'write x["a+b"] if a+b is one name'),
        ("cf.job = ['a']", 10, "a list stands after in only"),
        ("cf.job = f'a'", 11, "take away f"),
        (r"cf.job = 'a\d'", 10, "for each backslash"),
        ("cf.job = 'a\nb'", 10, "on the same line"),
        ("cf.a\u00a0>\u00a00x1f", 9, "an operator is missing between 0 and x1f"),
        ("cf.a > 007", 8, "007 cannot stand here"),
        ("cf.a > 5k", 9, "an operator is missing between 5 and k"),
        ("fixed(sex)", 7, 'write fixed("sex")'),
        ("fixed(cf.sex)", 7, 'write fixed("sex")'),
        ("fixed()", 1, "fixed needs the name"),
        ("fixed", 1, "fixed needs names in brackets"),
        ("together('a', 'b') and cf.a > 1", 1, "stands alone"),
        ("abs(cf.a) > 1", 1, "there is no function abs"),
        ("cf.a > 1 and cf.b.max() > 1", 14, "there is no function max"),
        ("cf.a.between(1)", 1, "takes two values"),
        ("cf.missing()", 1, "cf needs a feature before .missing"),
        ("cf.a ** 2 > 1", 6, "+ - * /"),
        ("cf.a > 1; cf.b > 1", 9, "one constraint a line"),
        ("not cf.a", 5, "cf.a is a value, not a condition"),
        ("(cf.a > 1) + 1 > 2", 2, "cf.a > 1 is a condition, not a value"),
        ("cf.a < missing", 1, "no order"),
        ("__import__('os').system('ls')", 1, "there is no function system"),
        ("(lambda: 1)()", 2, "lambda is not used here"),
        ("cf.a.__class__ > 1", 1, "cf.a has no __class__"),
        ("[cf for cf in x]", 5, "for is not used here"),
        ("cf.a > \x00", 8, "has no meaning here"),
        ("", 1, "there is no constraint"),
    ],
)
def test_a_mistake_is_told_with_its_column_and_a_remedy(text, column, message):
    with pytest.raises(ConstraintError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"line 1, column {column}: ")
    assert (caught.value.line, caught.value.column) == (1, column)
    assert caught.value.__cause__ is None
    assert isinstance(caught.value, InputError)


def test_a_mistake_in_a_file_is_told_with_name_line_and_column():
    text = "# law\nfixed('sex')\n(cf.a = 1 and\n  age > 3)\n"
    with pytest.raises(ConstraintError, match=r"^loan\.plaf, line 4, column 3: age alone is ambiguous") as caught:
        parse_constraints(text, name="loan.plaf")
    assert (caught.value.line, caught.value.column) == (4, 3)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.line, again.column) == (str(caught.value), 4, 3)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("cf.a > 1\ncf.b", "line 2, column 1: cf.b is a value, not a condition"),
        ("cf.a > 1\n\n cf.b > 1 and\ncf.c > 1", "line 3, column 11: something is missing after and"),
        ("cf.a > 1\ncf.b in [1,\ncf.c > 1\n", "line 2, column 9: this [ is never closed"),
        ("cf.a > 1\n  x = 'a\nb'", "line 2, column 7: this text is never closed"),
    ],
)
def test_a_mistake_in_a_later_line_is_placed_there(text, place):
    with pytest.raises(ConstraintError) as caught:
        parse_constraints(text)
    assert str(caught.value).startswith(place)


def test_two_constraints_are_not_one():
    with pytest.raises(ConstraintError, match="line 2, column 1: one constraint was expected"):
        parse("cf.a > 1\ncf.b > 1")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 150 + "cf.a" + ")" * 150 + " > 1",
        "(" * 100_000,
        "-" * 100_000 + "cf.a > 1",
        "not " * 100_000 + "cf.a > 1",
        "+".join(["cf.a"] * 20_000) + " > 1",
        " => ".join(["cf.a > 1"] * 5_000),
        " & ".join(["(cf.a > 1)"] * 5_000),
        "cf.a" + ".missing()" * 5_000,
        "cf.a > 1 and " * 200_000 + "cf.a > 1",
    ],
)
def test_nested_or_huge_text_gets_a_sentence(text):
    with pytest.raises(ConstraintError, match=r"deep|too many|no function"):
        parse(text)


def test_the_deepest_constraint_works_on_a_stack_already_deep():
    deepest = cf.a > 1
    for _ in range(24):
        deepest = (~(deepest & (cf.b > 1)) | (cf.c > 1)).implies(cf.d > -(cf.e + 1))
    assert deepest.depth > 95

    def descend(levels):
        if levels:
            return descend(levels - 1)
        return parse(str(deepest)).same(deepest) and pickle.loads(pickle.dumps(deepest)).sentence()

    assert descend((sys.getrecursionlimit() - 1) // 3)


SIGNS = ". [ ] ( ) { } ' \" = => == <= < , + - * / & | ~ : ; # ... \\"
WORDS = "cf x age cf.age x.age 'a' 3 1e5 0x1f in not and or is if fixed together missing true isin é"
CALLS = ".missing() .isin([1]) .between(1,2) .implies(cf.b=1)"
SOUP = st.sampled_from([*SIGNS.split(), *WORDS.split(), *CALLS.split(), " ", "\n", "\t"])


@trials(1000)
@given(st.one_of(st.lists(SOUP, max_size=12).map("".join), st.lists(SOUP, max_size=9).map(" ".join), st.text()))
def test_any_text_is_a_constraint_or_a_constraint_error(text):
    try:
        found = parse(text)
    except ConstraintError as refusal:
        error = refusal
    else:
        assert parse(str(found)).same(found)
        assert isinstance(found, Term) or parse_constraints(text)[0].same(found)
        return
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert 1 <= error.line <= len(lines)
    assert 1 <= error.column <= max(len(lines[error.line - 1]), 1)


def test_only_text_is_read():
    with pytest.raises(TypeError, match="not a list"):
        parse_constraints(["cf.a > 1"])
    with pytest.raises(TypeError, match="not a NoneType"):
        parse(None)
