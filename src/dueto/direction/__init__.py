"""Which of two variables is due to the other? One pair, or every two columns of a table."""

from __future__ import annotations

from dueto.direction.base import Direction
from dueto.direction.many import Directions, directions
from dueto.direction.one import direction

__all__ = ["Direction", "Directions", "direction", "directions"]
