"""Seeing what a pipeline looks like, where its time goes, and how far it is."""
from fuel.inspection.describing import Description, describe
from fuel.inspection.profiling import Profiler, profile
from fuel.inspection.progressing import Progress, progress
from fuel.inspection.report import Report, Row

__all__ = ['Description', 'Profiler', 'Progress', 'Report', 'Row', 'describe', 'profile',
           'progress']
