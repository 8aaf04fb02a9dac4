"""Programs that are called as ffmpeg is: stand-ins, and the real one where it is installed."""
import os
import shutil
import sys
import textwrap

#: What the tests can use: a stand-in that is made of the standard library, and the real program.
PROGRAMS = ['stand-in', *(['real'] if shutil.which('ffmpeg') else [])]

# Reads WAV files only, and gives what they have.
_STAND_IN = '''
    import sys, wave
    arguments = sys.argv[1:]
    options = dict(zip(arguments, arguments[1:]))
    try:
        assert arguments[-1] == '-' and '-nostdin' in arguments and '-xerror' in arguments
        assert options['-f'] == 's16le' and options['-acodec'] == 'pcm_s16le'
        assert sys.stdin.read() == ''
        with wave.open(options['-i'].removeprefix('file:')) as sound:
            assert int(options['-ac']) == sound.getnchannels()
            assert int(options['-ar']) == sound.getframerate()
            sys.stdout.buffer.write(sound.readframes(sound.getnframes()))
    except (AssertionError, wave.Error, EOFError) as error:
        print('Invalid data', repr(error), file=sys.stderr)
        sys.exit(1)
    '''


def write_program(folder, code):
    """Write a program of the name ffmpeg, in Python."""
    path = folder / 'ffmpeg'
    path.write_text(f'#!{sys.executable}\n{textwrap.dedent(code)}')
    path.chmod(0o755)
    return path


def install(name, folder, monkeypatch):
    """Have one of the programs found, and no other."""
    folder.mkdir()
    if name == 'real':
        os.symlink(shutil.which('ffmpeg'), folder / 'ffmpeg')
    elif name == 'stand-in':
        write_program(folder, _STAND_IN)
    elif name is not None:
        write_program(folder, name)
    monkeypatch.setenv('PATH', str(folder))
