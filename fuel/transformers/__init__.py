"""Transformers: streams that wrap a stream and change what comes out of it."""
from fuel.transformers.agnostic import AgnosticTransformer
from fuel.transformers.arrays import Cast, Flatten, ForceFloatX, ScaleAndShift
from fuel.transformers.background import MultiProcessing, MultiThreading
from fuel.transformers.base import Transformer
from fuel.transformers.batching import Batch, Unpack
from fuel.transformers.caching import Cache
from fuel.transformers.epochs import Repeat, Skip, Take
from fuel.transformers.filtering import Filter
from fuel.transformers.labels import ExpectsAxisLabels
from fuel.transformers.mapping import Mapping
from fuel.transformers.merging import Merge
from fuel.transformers.onehot import OneHot
from fuel.transformers.ordering import LengthBuckets, ShuffleBuffer, SortMapping
from fuel.transformers.ragged import Padding
from fuel.transformers.regrouping import Groups, RegroupingTransformer
from fuel.transformers.scaling import Normalize
from fuel.transformers.sources import FilterSources, Rename, SourceMapping
from fuel.transformers.sourcewise import AgnosticSourcewiseTransformer, SourcewiseTransformer
from fuel.transformers.tolerant import Tolerant

__all__ = ['AgnosticSourcewiseTransformer', 'AgnosticTransformer', 'Batch', 'Cache', 'Cast',
           'ExpectsAxisLabels', 'Filter', 'FilterSources', 'Flatten', 'ForceFloatX',
           'Groups', 'LengthBuckets', 'Mapping', 'Merge', 'MultiProcessing', 'MultiThreading',
           'Normalize', 'OneHot', 'Padding',
           'RegroupingTransformer', 'Rename',
           'Repeat', 'ScaleAndShift', 'ShuffleBuffer', 'Skip', 'SortMapping', 'SourceMapping',
           'SourcewiseTransformer', 'Take', 'Tolerant', 'Transformer', 'Unpack']
