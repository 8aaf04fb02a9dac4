"""Keys: who is let in, and what is encrypted."""
import os
import stat

import pytest

from fuel.exceptions import ServerError, ServerTimeoutError
from fuel.server import Server
from fuel.server.__main__ import main
from fuel.streams.remote import ServerDataStream
from fuel.wire.sockets import make_keys

from .peers import SECONDS, equal, stream


@pytest.fixture
def keys(tmp_path):
    """Return a function that gives the paths of the public and secret key of somebody."""
    def pair(name, folder='keys'):
        path = tmp_path / folder / name
        if not os.path.exists(f'{path}.key'):
            make_keys(path)
        return f'{path}.key', f'{path}.key_secret'
    return pair


def remote(server, **kwargs):
    """Return a client of a server."""
    return ServerDataStream(port=server.port, **{'timeout': SECONDS, **kwargs})


@pytest.mark.parametrize('shared_bytes', [0, None])
def test_a_client_with_the_key_of_the_server_is_served(shared_bytes, keys):
    public, secret = keys('server')
    local = stream()
    with Server(stream(), 0, keys=secret, shared_bytes=shared_bytes).start() as server, remote(
            server, server_key=public) as client:
        assert client.sources == ('x', 'y')
        for _ in range(2):
            assert equal(list(client.get_epoch_iterator()), list(local.get_epoch_iterator()))


def test_a_client_whose_key_is_known_is_served(keys, tmp_path):
    public, secret = keys('server')
    _, mine = keys('laptop', 'friends')
    with Server(stream(), 0, keys=secret, client_keys=tmp_path / 'friends').start() as server, \
            remote(server, server_key=public, client_key=mine) as client:
        assert equal(list(client.get_epoch_iterator()), list(stream().get_epoch_iterator()))


@pytest.mark.parametrize('known', [False, True])
def test_a_client_whose_key_is_not_known_is_refused(known, keys, tmp_path):
    public, secret = keys('server')
    keys('laptop', 'friends')
    stranger = keys('stranger')[1] if known else None
    with Server(stream(), 0, keys=secret, client_keys=tmp_path / 'friends').start() as server, \
            remote(server, server_key=public, client_key=stranger) as client, \
            pytest.raises(ServerError, match='refuses the key of this client'):
        next(client.get_epoch_iterator())


def test_a_client_without_keys_is_told_that_it_needs_them(keys):
    with Server(stream(), 0, keys=keys('server')[1]).start() as server, remote(
            server) as client, pytest.raises(ServerError, match='demands keys .*server_key'):
        next(client.get_epoch_iterator())


def test_a_client_with_the_key_of_another_server_gets_nothing(keys):
    with Server(stream(), 0, keys=keys('server')[1]).start() as server, remote(
            server, server_key=keys('other')[0], timeout=0.3) as client, \
            pytest.raises(ServerTimeoutError):
        next(client.get_epoch_iterator())


def test_a_server_with_keys_is_found_when_it_comes_later(keys):
    public, secret = keys('server')
    with Server(stream(), 0, keys=secret) as server:
        port = server.port
    client = ServerDataStream(port=port, server_key=public, timeout=0.2)
    with pytest.raises(ServerTimeoutError):
        next(client.get_epoch_iterator())
    with Server(stream(), port, keys=secret).start(), client:
        client.timeout = SECONDS
        next(client.get_epoch_iterator())


def test_secret_keys_are_for_their_owner_only(keys):
    public, secret = keys('server')
    assert stat.S_IMODE(os.stat(secret).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(public).st_mode) == 0o644
    with open(public, encoding='utf-8') as file:
        assert 'secret-key' not in file.read()


def test_keys_are_not_written_over(keys):
    public, _ = keys('server')
    with pytest.raises(FileExistsError, match='is there already'):
        make_keys(public.removesuffix('.key'))


@pytest.mark.parametrize(('kwargs', 'error', 'message'), [
    ({'keys': 'nowhere.key_secret'}, FileNotFoundError, '--make-keys'),
    ({'client_keys': '.'}, ValueError, 'needs the keys of the server')])
def test_mistakes_with_keys_are_named(kwargs, error, message):
    with pytest.raises(error, match=message):
        Server(stream(), 0, **kwargs)


def test_the_public_key_does_not_do_for_the_server(keys, tmp_path):
    with pytest.raises(ValueError, match='public key only'):
        Server(stream(), 0, keys=keys('server')[0])
    (tmp_path / 'nobody').mkdir()
    with pytest.raises(FileNotFoundError, match='nobody could connect'):
        Server(stream(), 0, keys=keys('server')[1], client_keys=tmp_path / 'nobody')


def test_the_command_makes_keys(tmp_path, capsys):
    assert main(['--make-keys', str(tmp_path / 'server')]) == 0
    assert capsys.readouterr().out == (
        f'{tmp_path}/server.key: give this to the others\n'
        f'{tmp_path}/server.key_secret: keep this to yourself\n')
    with pytest.raises(SystemExit):
        main(['--make-keys', str(tmp_path / 'server')])
    assert 'is there already' in capsys.readouterr().err


def test_a_server_for_other_hosts_without_keys_is_warned_of(caplog):
    with Server(stream(), 0, host='*'):
        assert 'without keys' in caplog.text
