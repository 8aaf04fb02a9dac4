"""Errors of the library.

Every error has :class:`FuelError` as a base and, beside it, the built-in class that a caller
would catch. All of them survive pickling, so that they can travel between processes.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ['AxisLabelsMismatchError', 'ChecksumError', 'ConfigurationError',
           'ConfigurationFileError', 'ConfigurationUnsetError', 'ConversionError', 'DataFileError',
           'DataFileNotFoundError', 'DataLayoutError', 'DownloadError', 'FuelError',
           'ImageDecodingError', 'LockTimeoutError', 'MissingInputFiles', 'NeedURLPrefix',
           'OutputExistsError', 'ServerError', 'ServerTimeoutError', 'StateError',
           'SupersededIteratorError', 'TooManyFailuresError', 'WorkerError', 'WorkerLostError',
           'WorkerTimeoutError']


class FuelError(Exception):
    """Base of every error that the library raises itself."""


class AxisLabelsMismatchError(FuelError, ValueError):
    """The axis labels of a source are not those that a transformer expects."""


class ConfigurationError(FuelError):
    """Something is wrong with the configuration."""


class ConfigurationFileError(ConfigurationError, ValueError):
    """The configuration file, or a value given for a setting, cannot be used."""


class ConfigurationUnsetError(ConfigurationError, AttributeError):
    """A setting without a default was read before it was set."""


class DataFileNotFoundError(FuelError, FileNotFoundError):
    """A data file stands in none of the directories of the data path.

    Parameters
    ----------
    message : str
        What was looked for, where, and what to do.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)


class DataFileError(FuelError, OSError):
    """A data file cannot be opened or read: it is cut off, in use, or of another kind.

    Parameters
    ----------
    message : str
        Which file, what is wrong with it, and what to do.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)


class DataLayoutError(FuelError, ValueError):
    """The content of a data file is not arranged in the way that the library expects."""


class ImageDecodingError(FuelError, OSError):
    """Bytes cannot be decoded as an image: they are none, cut short, broken, or too large a one.

    Parameters
    ----------
    message : str
        Which image, and what is wrong with it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)


class LockTimeoutError(FuelError, TimeoutError):
    """A lock was held by somebody else all the time.

    Parameters
    ----------
    message : str
        Which lock, who holds it, and for how long nothing was heard of them.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)


class MissingInputFiles(FuelError, FileNotFoundError):
    """Files that a converter needs are missing.

    Parameters
    ----------
    message : str
        What is wrong.
    filenames : sequence of str
        Names of the missing files; kept as the attribute `filenames`.
    """

    def __init__(self, message: str, filenames: Sequence[str]) -> None:
        super().__init__(message)
        self.message = message
        self.filenames = filenames

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.filenames), self.__dict__


class NeedURLPrefix(FuelError, ValueError):
    """A file to be downloaded has no public address; a URL prefix must be given."""


class DownloadError(FuelError, OSError):
    """A file could not be downloaded.

    Parameters
    ----------
    message : str
        Which file, from which addresses, and what each of them answered.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)


class ChecksumError(DownloadError):
    """A file does not have the checksum that was declared for it."""


class ConversionError(FuelError, ValueError):
    """A raw file does not have the form that its converter expects."""


class OutputExistsError(FuelError, FileExistsError):
    """A file that is to be written is there already, and is not to be replaced.

    Parameters
    ----------
    message : str
        Which file, and what to do.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)


class ServerError(FuelError, RuntimeError):
    """A server could not give a step, or cannot be spoken with.

    Parameters
    ----------
    message : str
        What went wrong, and where.
    original : str, optional
        The name of the class of the error in the server; kept as the attribute `original`.
    """

    def __init__(self, message: str, original: str = '') -> None:
        super().__init__(message)
        self.original = original


class ServerTimeoutError(FuelError, TimeoutError):
    """A server was not found, or gave nothing, within the time that it was given.

    Parameters
    ----------
    message : str
        Which server, and what is known of it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)


class StateError(FuelError, ValueError):
    """A saved state does not belong to the object it is loaded into, or cannot be read."""


class SupersededIteratorError(FuelError, RuntimeError):
    """An epoch iterator was used after its stream had started a newer epoch.

    Raised only where two epochs cannot run side by side, because the stream or its data set keeps
    a single position.
    """


class TooManyFailuresError(FuelError, RuntimeError):
    """More examples of an epoch were bad than the ceiling allows."""


class WorkerError(FuelError, RuntimeError):
    """An error in a worker process that cannot travel to the parent itself.

    Parameters
    ----------
    message : str
        What was raised, and its text.
    original : str, optional
        The name of the class of the error; kept as the attribute `original`.
    """

    def __init__(self, message: str, original: str = '') -> None:
        super().__init__(message)
        self.original = original


class WorkerLostError(FuelError, RuntimeError):
    """A worker process has ended while it was needed: it was killed, crashed, or left."""


class WorkerTimeoutError(FuelError, TimeoutError):
    """A worker process did not give its data in time.

    Parameters
    ----------
    message : str
        Which worker, what it was to do, and where it stands.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
