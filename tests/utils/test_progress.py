from __future__ import annotations

import io
import logging
import sys
import threading

import pytest

from fuel.utils.progress import format_amount, progress_bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bar_on_a_terminal(monkeypatch, caplog):
    terminal = Terminal()
    monkeypatch.setattr(sys, 'stderr', terminal)
    threads = threading.active_count()
    with caplog.at_level(logging.INFO), progress_bar('digits', 4, unit='images') as bar:
        bar.update(1)
        bar.update(4)
        assert threading.active_count() == threads
    text = terminal.getvalue()
    assert 'Converting digits' in text
    assert '4/4' in text
    assert '100%' in text
    assert not caplog.records


def test_bar_can_go_back(monkeypatch):
    monkeypatch.setattr(sys, 'stderr', Terminal())
    with progress_bar('digits', 4) as bar:
        bar.update(3)
        bar.update(1)
        assert bar.bar.n == 1


def test_lines_in_a_log(caplog):
    seconds = iter([0, 1, 12, 13, 25])
    with caplog.at_level(logging.INFO), progress_bar('x.bin', 4000, 'Downloading', unit='B',
                                                     clock=lambda: next(seconds)) as bar:
        for value in (1000, 2000, 3000, 4000):
            bar.update(value)
    assert [record.getMessage() for record in caplog.records] == [
        'Downloading x.bin: 2.0 kB of 4.0 kB (50 %), 167 B/s, 12 s left',
        'Downloading x.bin: 4.0 kB of 4.0 kB (100 %), 160 B/s, 0 s left',
        'Downloading x.bin: done, 4.0 kB']


@pytest.mark.parametrize('total', [None, 0, object()])
def test_unknown_length(caplog, monkeypatch, total):
    seconds = iter([0, 100])
    with caplog.at_level(logging.INFO), progress_bar('x', total,
                                                     clock=lambda: next(seconds)) as bar:
        bar.update(7)
    assert caplog.messages == ['Converting x: 7 it, 0.07 it/s', 'Converting x: done, 7 it']
    terminal = Terminal()
    monkeypatch.setattr(sys, 'stderr', terminal)
    with progress_bar('x', total) as bar:
        bar.update(7)
    assert '7' in terminal.getvalue()


def test_failed_work_is_not_called_done(caplog):
    with caplog.at_level(logging.INFO), pytest.raises(KeyError), progress_bar('x', 3):
        raise KeyError
    assert not caplog.records


def test_without_standard_error(monkeypatch, caplog):
    monkeypatch.setattr(sys, 'stderr', None)
    with caplog.at_level(logging.INFO), progress_bar('x', 3) as bar:
        bar.update(3)
    assert caplog.messages == ['Converting x: done, 3 it']


@pytest.mark.parametrize(('value', 'text'), [
    (0, '0 B'), (999, '999 B'), (1000, '1.0 kB'), (999_949, '999.9 kB'), (999_951, '1.0 MB'),
    (2_500_000_000, '2.5 GB'), (3 * 10**15, '3000.0 TB')])
def test_amounts_of_bytes(value, text):
    assert format_amount(value, 'B') == text


@pytest.mark.parametrize(('value', 'unit', 'text'), [
    (0, 'examples', '0 examples'), (1, 'examples', '1 example'), (2, 'examples', '2 examples'),
    (1, 'batches', '1 batch'), (1, 'it', '1 it')])
def test_amounts_of_things(value, unit, text):
    assert format_amount(value, unit) == text


def test_time_that_is_left(caplog):
    seconds = iter([0, 10, 4000])
    with caplog.at_level(logging.INFO), progress_bar('x', 1_000_000, unit='rows',
                                                     clock=lambda: next(seconds)) as bar:
        bar.update(1000)
        bar.update(500_000)
    assert caplog.messages[:2] == [
        'Converting x: 1000 rows of 1000000 rows (0 %), 100 rows/s, 2 h 46 min left',
        'Converting x: 500000 rows of 1000000 rows (50 %), 125 rows/s, 1 h 6 min left']
