"""Iteration schemes: which examples to visit, and in which order."""
from fuel.schemes.base import BatchScheme, BatchSizeScheme, IndexScheme, IterationScheme
from fuel.schemes.chunk_table import ChunkedExamples
from fuel.schemes.chunked import ChunkShuffledExampleScheme, ChunkShuffledScheme
from fuel.schemes.combined import ConcatenatedScheme, ConstantScheme, cross_validation
from fuel.schemes.sequential import SequentialExampleScheme, SequentialScheme
from fuel.schemes.shuffled import ShuffledExampleScheme, ShuffledScheme

__all__ = ['BatchScheme', 'BatchSizeScheme', 'ChunkShuffledExampleScheme', 'ChunkShuffledScheme',
           'ChunkedExamples', 'ConcatenatedScheme', 'ConstantScheme', 'IndexScheme',
           'IterationScheme', 'SequentialExampleScheme', 'SequentialScheme',
           'ShuffledExampleScheme', 'ShuffledScheme', 'cross_validation']
