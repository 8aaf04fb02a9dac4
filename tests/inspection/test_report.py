"""What a report looks like."""
import pytest

from fuel.inspection.loads import Load, duration, sharing
from fuel.inspection.report import _time

from .common import Clock, chain, profiled


def test_the_table_and_the_sentence():
    clock = Clock()
    report = profiled(chain(clock, read=.001, decode=.004), clock, loop=.005, batches=10)
    assert str(report).split('\n') == [
        'stage              where  steps   time  time/step  share  waiting  bytes/step',
        'SlowScheme         here           0 us               0 %      0 %',
        'DataStream         here      10  10 ms       1 ms   10 %      0 %        96 B',
        'Mapping (decode)   here      10  40 ms       4 ms   40 %     10 %        96 B',
        'Mapping (augment)  here      10   0 us       0 us    0 %     50 %        96 B',
        'training loop      here      10  50 ms       5 ms   50 %     50 %',
        '10 batches in 100 ms, 100 batches per second',
        report.bottleneck]
    assert repr(report) == f'<Report: {report.bottleneck}>'


def test_markdown():
    clock = Clock()
    report = profiled(chain(clock, read=1), clock, batches=1)
    table, _, said = report._repr_markdown_().partition('\n\n')
    assert table.split('\n')[:2] == [
        '| stage | where | steps | time | time/step | share | waiting | bytes/step |',
        '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |']
    assert '| DataStream | here | 1 | 1 s | 1 s | 100 % | 0 % | 96 B |' in table
    assert said == f'1 batch in 1 s, 1 batches per second  \n**{report.bottleneck}**'


@pytest.mark.parametrize(('seconds', 'text'), [
    (0, '0 us'), (1.5e-6, '1.5 us'), (.0123, '12.3 ms'), (1, '1 s'), (123.4, '123 s')])
def test_times(seconds, text):
    assert _time(seconds) == text


@pytest.mark.parametrize(('work', 'rest', 'processors', 'workers'), [
    ((8, 8), (2, 2), 16, 4), ((8, 8), (0, 0), 3, 3), ((8, 8), (2, 2), 2, 2), ((8, 8), (9, 9), 4, 1),
    # What mostly waits for devices can be shared by more than there are processors.
    ((8, 0), (1, 1), 2, 8), ((8, 0), (0, 0), 2, 8), ((8, 4), (0, 0), 2, 4),
    # What keeps two processors busy already cannot.
    ((8, 16), (0, 0), 4, 2), ((8, 32), (0, 0), 2, 1), ((8.1, 8.1), (2, 2), 16, 4),
    ((8, 8.01), (0, 0), 2, 2), ((8, 12), (0, 0), 2, 2)])
def test_how_many_workers_should_share_work(work, rest, processors, workers):
    assert sharing(Load(*work), Load(*rest), processors) == workers
    assert sharing(Load(*work), Load(*rest), processors, 9) == max(workers, 9)


def test_how_long_shared_work_takes():
    assert duration(Load(8, 8), Load(3, 3), 2, 4) == 4
    assert duration(Load(8, 8), Load(3, 3), 4, 4) == 3
    assert duration(Load(8, 8), Load(3, 3), 4, 2) == 5.5
