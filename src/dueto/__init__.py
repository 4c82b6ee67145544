"""dueto: what is it due to?"""

from dueto.errors import InputError
from dueto.feature import Feature
from dueto.space import FeatureSpace

__all__ = ["Feature", "FeatureSpace", "InputError"]
