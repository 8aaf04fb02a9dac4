"""Type aliases used all over the library."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy.typing as npt

__all__ = ['JSON', 'AnyArray', 'AxisLabels', 'Batch', 'Request', 'State']

AnyArray: TypeAlias = npt.NDArray[Any]                      # an array of any dtype
AxisLabels: TypeAlias = Mapping[str, tuple[str, ...] | None]  # source name to labels of axes
Batch: TypeAlias = tuple[Any, ...]                          # one item for every source
Request: TypeAlias = Any                                    # only scheme and data set look inside
JSON: TypeAlias = Any                                       # what json.dumps takes
State: TypeAlias = dict[str, JSON]                          # plain data of state_dict
