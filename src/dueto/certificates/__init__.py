"""Certificates: what was proved of a rule as plain data, and a check of it that shares nothing with the proof.

`written` makes them, from an oracle; `read` takes them apart again. `verification` checks claim by claim (`checks` say
what became of each): the model by its `fingerprint`, the shortest rule by `least`, and that nobody who satisfies the
rule is accepted by `consistent`. That one lists the `region` that the rule leaves, or `search`es it and then goes by
the model's structure: `proofs` for one tree and for a sum over features, on a `grid` of values; `linear` for forests,
boosting and networks, as a `program` for HiGHS.
"""

from dueto.certificates.checks import Check, Verification
from dueto.certificates.verification import verify
from dueto.certificates.written import Certificate

__all__ = ["Certificate", "Check", "Verification", "verify"]
