"""dueto verify: is what a certificate says of a rule true of the model?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dueto.cli import console
from dueto.cli.inputs import FILE, as_json, options

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["verify"]

CODES = {"verified": 0, "refuted": 1, "not decided": 3}


@click.command(short_help="Is what a certificate says of a rule true?")
@options(
    click.argument("certificate", type=FILE),
    click.argument("model", type=FILE),
    click.option("--seconds", type=float, default=60.0, show_default=True, help="How long to try, about."),
    as_json,
    click.option("--trust-pickle", is_flag=True, help="Open a pickle, which can run any code its author chose."),
    click.option("--trust-type", multiple=True, metavar="TYPE", help="Allow a type in a skops file; may be repeated."),
)
@click.pass_context
def verify(
    ctx: click.Context,
    /,
    *,
    certificate: Path,
    model: Path,
    seconds: float,
    as_json: bool,
    trust_pickle: bool,
    trust_type: Sequence[str],
) -> None:
    """Show again, by other means, what CERTIFICATE says of a rule of MODEL; or show that it is false.

    \b
    Examples:
      dueto explain model.skops data.csv --row 17 --certificate rule.json
      dueto verify rule.json model.skops

    CERTIFICATE is the JSON file that `dueto explain --certificate` wrote; it holds the feature space, the constraints,
    the applicant, the rule, and counterfactuals that show why no shorter one holds. MODEL is a file as for `explain`.

    \b
    Exit codes:
      0  verified: every claim was shown again
      1  refuted: some claim is false, or the model is another one
      2  usage or bad input
      3  not decided within the time
    """
    with console.working("starting"):
        from dueto.certificates import verify as verified
        from dueto.certificates.read import read_certificate
        from dueto.models import load_model

        read_certificate(certificate)  # before a model that may be large
        loaded = load_model(model, trust_pickle=trust_pickle, trusted_types=trust_type)
    with console.working("verifying"):
        found = verified(certificate, loaded, seconds=seconds)
    if as_json:
        console.say_json(found.to_dict())
    else:
        console.say(str(found))
    ctx.exit(CODES[found.status])
