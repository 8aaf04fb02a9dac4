"""Data streams: iteration over data sets."""
from fuel.streams.base import AbstractDataStream
from fuel.streams.remote import ServerDataStream
from fuel.streams.source import DataStream

__all__ = ['AbstractDataStream', 'DataStream', 'ServerDataStream']
