"""Text as sequences of numbers: one example for every line of one or several files."""
from fuel.datasets._one_billion_word import OneBillionWord
from fuel.datasets._text_file import TextFile
from fuel.datasets._vocabulary import read_vocabulary

__all__ = ['OneBillionWord', 'TextFile', 'read_vocabulary']
