"""Many rows at once: explained in parallel, killed and gone on with, and what they have in common."""

from dueto.batch.results import Batch, read_batch
from dueto.batch.run import Progress, batch

__all__ = ["Batch", "Progress", "batch", "read_batch"]
