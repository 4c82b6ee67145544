"""Data to try things on: tables, pairs of a cause and its effect, and simulated pairs."""

from __future__ import annotations

from dueto.datasets.pairs import (
    Pair,
    load_ecoli_pairs,
    load_nips2008_pairs,
    load_simulated_pairs,
    load_tuebingen_pairs,
)
from dueto.datasets.simulators import simulate
from dueto.datasets.tables import (
    Dataset,
    load_adult,
    load_flights,
    load_german_credit,
    load_heloc,
    load_kdd_census,
    load_paper_adult,
    load_paper_credit,
    load_paper_fico,
    load_taiwan_credit,
)

__all__ = [
    "Dataset",
    "Pair",
    "load_adult",
    "load_ecoli_pairs",
    "load_flights",
    "load_german_credit",
    "load_heloc",
    "load_kdd_census",
    "load_nips2008_pairs",
    "load_paper_adult",
    "load_paper_credit",
    "load_paper_fico",
    "load_simulated_pairs",
    "load_taiwan_credit",
    "load_tuebingen_pairs",
    "simulate",
]
