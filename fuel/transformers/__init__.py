"""Transformers: streams that wrap a stream and change what comes out of it."""
from fuel.transformers.arrays import Cast, Flatten, ScaleAndShift
from fuel.transformers.base import AgnosticTransformer, Transformer
from fuel.transformers.mapping import Mapping
from fuel.transformers.sourcewise import AgnosticSourcewiseTransformer, SourcewiseTransformer

__all__ = ['AgnosticSourcewiseTransformer', 'AgnosticTransformer', 'Cast', 'Flatten', 'Mapping',
           'ScaleAndShift', 'SourcewiseTransformer', 'Transformer']
