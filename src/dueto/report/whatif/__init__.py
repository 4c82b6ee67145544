"""What if? A model made small enough for a page to evaluate exactly; or a grid of scores worked out beforehand."""

from dueto.report.whatif.offline import offline

__all__ = ["offline"]
