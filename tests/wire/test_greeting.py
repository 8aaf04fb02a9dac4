"""What a greeting says, and what is none."""
import socket
import threading

import pytest
import zmq

from fuel.wire.greeting import LENGTH, Greeting, ask, greeting, read_greeting


def test_a_greeting_tells_the_port_for_control():
    assert len(greeting()) == LENGTH
    assert read_greeting(greeting()) == Greeting('NULL', None)
    assert read_greeting(greeting(65535)) == Greeting('NULL', 65535)


@pytest.mark.parametrize('content', [b'', b'HTTP/1.1 400 Bad Request'.ljust(64), greeting()[:-1],
                                     b'\xff' + b'\0' * 8 + b'\x7f\x01' + b'\0' * 53])
def test_other_bytes_are_no_greeting(content):
    with pytest.raises(ValueError, match='greeting'):
        read_greeting(content)


@pytest.mark.parametrize('kind', [zmq.PUSH, zmq.ROUTER])
def test_sockets_of_zeromq_answer_with_a_greeting_that_says_nothing_more(kind):
    with zmq.Context() as context, context.socket(kind) as server:
        port = server.bind_to_random_port('tcp://127.0.0.1')
        assert ask('127.0.0.1', port, 10) == Greeting('NULL', None)


def test_a_server_with_keys_says_so():
    with zmq.Context() as context, context.socket(zmq.ROUTER) as server:
        server.curve_publickey, server.curve_secretkey = zmq.curve_keypair()
        server.curve_server = True
        port = server.bind_to_random_port('tcp://127.0.0.1')
        assert ask('127.0.0.1', port, 10).mechanism == 'CURVE'


@pytest.mark.parametrize(('answer', 'error'), [
    (b'', ConnectionResetError), (b'HTTP/1.1 400 Bad Request\r\n\r\n', ValueError)])
def test_what_does_not_speak_the_protocol_is_noticed(answer, error):
    with socket.create_server(('127.0.0.1', 0)) as server:
        def serve():
            connection, _ = server.accept()
            with connection:
                connection.recv(12)
                connection.sendall(answer)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            with pytest.raises(error):
                ask('127.0.0.1', server.getsockname()[1], 10)
        finally:
            thread.join()


def test_who_says_nothing_is_not_waited_for():
    with socket.create_server(('127.0.0.1', 0)) as server, pytest.raises(TimeoutError):
        ask('127.0.0.1', server.getsockname()[1], 0.05)


def test_nobody_there_is_noticed():
    with socket.create_server(('127.0.0.1', 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ConnectionRefusedError):
        ask('127.0.0.1', port, 10)
