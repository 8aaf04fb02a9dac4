"""The command, and how a server ends."""
import multiprocessing
import os
import pickle
import signal
import socket

import pytest

from fuel.server import Server, start_server
from fuel.server.__main__ import main
from fuel.streams.remote import ServerDataStream

from .peers import SECONDS, OldClient, equal, stream
from .processes import command, free_port, pickled, served


@pytest.fixture
def run():
    """Return a function that starts the command, and ends it after the test."""
    started = []

    def start(*args):
        started.append(command(*args))
        return started[-1]
    yield start
    for process in started:
        process.kill()
        process.communicate()


def remote(port):
    """Return a client."""
    return ServerDataStream(port=port, timeout=SECONDS)


def ended(process):
    """Return exit code and output of a process."""
    output = process.communicate(timeout=SECONDS)
    return process.returncode, *output


def test_the_command_serves_a_pickled_stream_until_it_is_asked_to_end(run, tmp_path):
    port = free_port()
    process = run(pickled(tmp_path / 'stream.pkl', stream()), '--port', port, '--hwm', 2)
    with remote(port) as client:
        assert equal(list(client.get_epoch_iterator()), list(stream().get_epoch_iterator()))
        iterator = client.get_epoch_iterator()
        next(iterator)
        process.terminate()
        assert ended(process) == (0, '', '')
    # The port is free again.
    with socket.create_server(('127.0.0.1', port)):
        pass


def test_the_command_goes_on_with_an_epoch_iterator(run, tmp_path):
    local = stream()
    iterator = local.get_epoch_iterator()
    next(iterator)
    port = free_port()
    run(pickled(tmp_path / 'stream.pkl', local, iterator), '--port', port)
    with remote(port) as client:
        assert equal(list(client.get_epoch_iterator()), list(iterator))


def test_ctrl_c_ends_the_command_quietly(run, tmp_path):
    port = free_port()
    process = run(pickled(tmp_path / 'stream.pkl', stream()), '--port', port)
    with remote(port) as client:
        next(client.get_epoch_iterator())
        process.send_signal(signal.SIGINT)
        assert ended(process) == (130, '', '')


def test_the_command_tells_what_it_does_if_asked(run, tmp_path):
    port = free_port()
    process = run(pickled(tmp_path / 'stream.pkl', stream()), '--port', port, '--log', 'info')
    with remote(port) as client:
        next(client.get_epoch_iterator())
        process.terminate()
        code, _, errors = ended(process)
    assert code == 0
    for words in ('server started', f'port {port}', 'epoch 0 begins', 'server ended'):
        assert words in errors


def test_old_clients_are_served_by_the_command(run, tmp_path):
    port = free_port()
    run(pickled(tmp_path / 'stream.pkl', stream()), '--port', port)
    with OldClient(port) as client:
        assert equal(client.epoch(), list(stream().get_epoch_iterator()))


class Evil:
    """Does something when it is loaded, but is no stream."""

    def __reduce__(self):
        return str, ('not a stream',)


@pytest.mark.parametrize(('content', 'message'), [
    (b'', 'cannot load'), (b'nonsense', 'cannot load'), (pickle.dumps(Evil()), 'expected a stream'),
    (None, 'No such file')])
def test_what_is_no_stream_is_refused(content, message, tmp_path, capsys):
    path = tmp_path / 'stream.pkl'
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SystemExit) as raised:
        main([str(path), '--port', '0'])
    assert raised.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize('args', [[], ['x', '--port', 'a'], ['x', '--log', 'nothing']])
def test_wrong_arguments_are_refused(args, capsys):
    with pytest.raises(SystemExit) as raised:
        main(args)
    assert raised.value.code == 2
    assert 'error' in capsys.readouterr().err


def test_a_port_that_is_taken_is_named_without_a_traceback(tmp_path, capsys):
    with Server(stream(), 0) as server, pytest.raises(SystemExit):
        main([str(pickled(tmp_path / 'stream.pkl', stream())), '--port', str(server.port)])
    assert f'port {server.port}' in capsys.readouterr().err


@pytest.mark.parametrize('method', ['spawn', 'fork'])
@pytest.mark.filterwarnings('ignore:This process:DeprecationWarning')
def test_start_server_ends_cleanly_when_its_process_is_terminated(method):
    port = free_port()
    process = multiprocessing.get_context(method).Process(target=served, args=(port, 40))
    process.start()
    with remote(port) as client:
        next(client.get_epoch_iterator())
    process.terminate()
    process.join(SECONDS)
    assert process.exitcode == 0
    process.close()


def test_signal_handlers_are_left_as_they_were():
    class Ending:
        sources = ('x',)
        axis_labels = None
        produces_examples = True

        def get_epoch_iterator(self):
            os.kill(os.getpid(), signal.SIGTERM)
            return iter([])
    before = signal.getsignal(signal.SIGTERM)
    port = free_port()
    with OldClient(port):
        start_server(Ending(), port)
    assert signal.getsignal(signal.SIGTERM) is before
