"""Archives of CIFAR that are damaged, or made to do harm."""
from __future__ import annotations

import os
import pickle
import tarfile

import numpy
import pytest

from fuel.converters.cifar10 import convert_cifar10
from fuel.converters.cifar100 import convert_cifar100
from fuel.exceptions import ConversionError, MissingInputFiles
from tests.bin.commands import fails as command_fails
from tests.raw import cifar10 as raw10
from tests.raw import cifar100 as raw100
from tests.raw.python2 import pickled, write_archive

MEMBERS = [f'{raw10.FOLDER}/{name}' for name in raw10.BATCHES]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / 'in').mkdir()
    (tmp_path / 'out').mkdir()
    return tmp_path


def fails(folder, convert=convert_cifar10):
    """Convert, and return the message; nothing is left behind."""
    with pytest.raises(ConversionError) as caught:
        convert(str(folder / 'in'), str(folder / 'out'))
    assert os.listdir(folder / 'out') == []
    return str(caught.value)


def batch(count=4, **changes):
    return {'data': numpy.zeros((count, 3072), 'uint8'), 'labels': [0] * count, **changes}


def write(folder, *, change=None, content=None, leave_out=(), more=()):
    """Write an archive, in which one batch has another content."""
    members = {name: pickled(batch()) for name in MEMBERS if name not in leave_out}
    if change is not None:
        members[change] = content
    write_archive(folder / 'in' / raw10.ARCHIVE, [*members.items(), *more])


class Evil:
    def __reduce__(self):
        return os.system, ('touch evil-was-here',)


@pytest.mark.parametrize('protocol', range(6))
@pytest.mark.parametrize('where', ['batch', 'label', 'key'])
def test_code_in_a_pickle_does_not_run(folder, monkeypatch, where, protocol):
    monkeypatch.chdir(folder)
    content = {'batch': Evil(), 'label': batch(labels=[0, 1, Evil()]),
               'key': batch(batch_label=Evil())}[where]
    write(folder, change=MEMBERS[1], content=pickle.dumps(content, protocol))
    message = fails(folder)
    assert f'cifar-10-python.tar.gz: {MEMBERS[1]}, byte ' in message
    if protocol >= 2 or where == 'batch':
        assert 'posix.system' in message
    assert sorted(os.listdir(folder)) == ['in', 'out']


def test_code_in_other_members_does_not_run_either(folder, monkeypatch):
    monkeypatch.chdir(folder)
    write(folder, more=[(f'{raw10.FOLDER}/batches.meta', pickle.dumps(Evil(), 2))])
    assert 'batches.meta, byte ' in fails(folder)
    write(folder, more=[(f'{raw10.FOLDER}/another', pickle.dumps(Evil(), 2))])
    convert_cifar10(str(folder / 'in'), str(folder / 'out'))
    assert sorted(os.listdir(folder)) == ['in', 'out']


@pytest.mark.parametrize('content', [
    [], {}, {'label_names': []}, {'label_names': ['a'] * 11}, {'label_names': 'abcdefghij'},
    {'label_names': [*'abcdefghi', 10]}, {'label_names': [*'abcdefghi', ['j']]}])
def test_names_that_are_not_as_expected(folder, content):
    write(folder, more=[(f'{raw10.FOLDER}/batches.meta', pickle.dumps(content, 2))])
    assert 'batches.meta: expected ' in fails(folder)


@pytest.mark.parametrize('name', ['../climbed', 'a/../../climbed', '/tmp/climbed'])
def test_members_that_lead_out_of_the_archive(folder, name):
    write(folder, more=[(name, b'content')])
    assert 'climbed' in fails(folder)
    assert not (folder / 'climbed').exists()


@pytest.mark.parametrize('kind', [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE])
def test_links_and_devices(folder, kind):
    info = tarfile.TarInfo(f'{raw10.FOLDER}/data_batch_1')
    info.type, info.linkname = kind, '/etc/passwd'
    write(folder, leave_out=MEMBERS[:1], more=[info])
    assert 'link or a device' in fails(folder)


def test_archives_cut_off_anywhere(folder):
    path = folder / 'in' / raw10.ARCHIVE
    raw10.write(folder / 'in', 3, 3)
    content = path.read_bytes()
    for length in [0, 1, 9, 30, *range(100, len(content), len(content) // 40), len(content) - 1]:
        path.write_bytes(content[:length])
        assert str(path) in fails(folder)


def test_archives_that_are_none(folder):
    import gzip
    path = folder / 'in' / raw10.ARCHIVE
    for content in (b'<html>not found</html>', gzip.compress(b'no tar at all' * 100),
                    gzip.compress(b''), b'\0' * 4096):
        path.write_bytes(content)
        assert str(path) in fails(folder)


def test_damage_in_the_middle(folder):
    path = folder / 'in' / raw10.ARCHIVE
    raw10.write(folder / 'in', 20, 20)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xff
    path.write_bytes(content)
    assert str(path) in fails(folder)


@pytest.mark.parametrize('gone', MEMBERS)
def test_missing_members_are_named(folder, gone):
    write(folder, leave_out=[gone])
    message = fails(folder)
    assert f'{gone} is missing' in message


def test_members_that_are_there_twice(folder):
    write(folder, more=[(MEMBERS[2], pickled(batch()))])
    assert f"'{MEMBERS[2]}' once; it is there twice" in fails(folder)


@pytest.mark.parametrize(('content', 'message'), [
    ([1, 2], 'expected a dictionary; got list'), ({'labels': []}, "entry 'data'; got labels"),
    ({'data': numpy.zeros((4, 3072), 'uint8')}, "entry 'labels'; got data"),
    (batch(data=numpy.zeros((4, 3071), 'uint8')), r'uint8 of shape \(4, 3071\)'),
    (batch(data=numpy.zeros(3072, 'uint8')), r'shape \(3072,\)'),
    (batch(data=numpy.zeros((4, 3072), 'int16')), 'got int16'),
    (batch(data=[1, 2, 3]), 'got list'), (batch(labels=[1, 2, 3]), 'expected 4 labels.* got 3'),
    (batch(labels=[1, 2, 3, 10]), 'labels from 0 to 9; label 3 is 10'),
    (batch(labels=[-1, 2, 3, 4]), 'label 0 is -1'), (batch(labels=[1, 2.5, 3, 4]), 'label 1 is 2'),
    (batch(labels=[1, None, 3, 4]), 'label 1 is of type NoneType'),
    (batch(labels=[1, 2, True, 4]), 'label 2 is True'), (batch(labels=3), 'list of labels'),
    (batch(labels=[1, 2, b'x', 4]), 'label 2 is of type bytes')])
def test_batches_that_are_not_as_expected(folder, content, message):
    write(folder, change=MEMBERS[3], content=pickle.dumps(content, 5))
    with pytest.raises(ConversionError, match=f'{MEMBERS[3]}.*{message}'):
        convert_cifar10(str(folder / 'in'), str(folder / 'out'))
    assert os.listdir(folder / 'out') == []


def test_labels_of_cifar100(folder):
    for changes, message in (({'coarse_labels': [20, 0]}, "'coarse_labels': expected labels from 0 "
                              'to 19'),
                             ({'fine_labels': [0, 100]}, "'fine_labels': expected labels from 0 to "
                              '99'),
                             ({'fine_labels': [0]}, "2 labels in 'fine_labels'")):
        good = raw100.batch('train', *raw100.data(2, 2)['train'])
        write_archive(folder / 'in' / raw100.ARCHIVE, [
            (f'{raw100.FOLDER}/test', pickled(good)),
            (f'{raw100.FOLDER}/train', pickled({**good, **changes}))])
        assert message in fails(folder, convert_cifar100)


def test_labels_in_an_array(folder):
    write(folder, change=MEMBERS[0],
          content=pickle.dumps(batch(labels=numpy.array([3, 1, 4, 1])), 2))
    convert_cifar10(str(folder / 'in'), str(folder / 'out'))


def test_missing_archives(folder):
    for convert, name in ((convert_cifar10, raw10.ARCHIVE), (convert_cifar100, raw100.ARCHIVE)):
        with pytest.raises(MissingInputFiles) as caught:
            convert(str(folder), str(folder / 'out'))
        assert caught.value.filenames == [name]


def test_command_says_it_in_one_line(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    write(folder, change=MEMBERS[1], content=pickle.dumps(Evil(), 2))
    line = command_fails('convert', ['cifar10', '-d', str(folder / 'in'), '-o',
                                     str(folder / 'out')], capsys)
    assert 'posix.system' in line
    assert os.listdir(folder / 'out') == []
    assert sorted(os.listdir(folder)) == ['in', 'out']
