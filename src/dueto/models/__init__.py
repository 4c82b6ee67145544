"""Models: anything that scores a table, and the structure of those that have one."""

from dueto.models.base import Model
from dueto.models.boxes import Boxes
from dueto.models.estimators import as_model
from dueto.models.files import load_model
from dueto.models.structure import Structure
from dueto.models.torch import TorchModel
from dueto.models.tree import Tree

__all__ = ["Boxes", "Model", "Structure", "TorchModel", "Tree", "as_model", "load_model"]
