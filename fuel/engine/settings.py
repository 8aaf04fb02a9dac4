"""The configuration of workers: that of the program, as far as it suits one of several."""
from __future__ import annotations

from typing import Any

from fuel.config_parser import config

__all__ = ['adopt', 'settings_to_send']

_OWN = 'fuel.config_parser'


def settings_to_send() -> dict[str, dict[str, Any]]:
    """Return what another process does not know of the configuration.

    Returns
    -------
    dict of str to dict
        For each setting that the program has assigned or declared itself what is to be put into
        the entry of the configuration.
    """
    sent = {}
    for key, entry in config.config.items():
        if getattr(entry['type'], '__module__', None) != _OWN:
            sent[key] = dict(entry)
        elif 'value' in entry:
            sent[key] = {'value': entry['value']}
    return sent


def adopt(settings: dict[str, dict[str, Any]], num_workers: int) -> None:
    """Take over the settings of the parent in a worker.

    Parameters
    ----------
    settings : dict of str to dict
        As from `settings_to_send`.
    num_workers : int
        By how many workers the memory for decoded chunks is shared. Each has one thread.
    """
    for key, entry in settings.items():
        config.config.setdefault(key, {}).update(entry)
    config.num_threads = 1
    config.chunk_cache_bytes = config.chunk_cache_bytes // num_workers
