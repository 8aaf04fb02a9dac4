"""Every example of the documentation runs, and whatever it refers to exists.

A page is gone through from top to bottom, as a reader would type it, in a folder of its own:

* ``>>>`` examples are one Python session for each page;
* ``console`` blocks are run by a shell, whose variables and working directory the Python session
  shares; what a command prints must be what the page shows. The option ``:class: not-run`` marks
  commands that need a network or change the machine, ``:class: fails`` those that end in an error;
* other blocks with a ``:caption:`` are files, which are written under that name; files that are
  included are copied;
* a Python block without one is refused, since nothing would check it;
* a ``picture`` must be one that ``docs/_ext/transformer_pictures.py`` draws;
* a ``sheet`` must name a converter, and there must be something that makes raw files for it.
"""
import doctest
import importlib
import os
import pathlib
import pkgutil
import re
import subprocess
import sys
import textwrap
import types
import xml.etree.ElementTree

import pytest
from PIL import Image

import fuel
from fuel.converters import all_converters

DOCS = pathlib.Path(__file__).resolve().parent.parent / 'docs'
FRAGMENTS = DOCS / 'changes' / 'next'
PAGES = sorted(page.relative_to(DOCS).with_suffix('').as_posix()
               for page in DOCS.rglob('*.rst') if FRAGMENTS not in page.parents)
MODULES = ['fuel', *sorted(module.name for module in pkgutil.walk_packages(
    # A package that cannot be imported is listed before that shows; its own test then fails.
    fuel.__path__, 'fuel.', onerror=lambda name: None))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# Nobody listens there, so what asks for another machine is refused at once.
NOWHERE = 'http://127.0.0.1:1'

DIRECTIVE = re.compile(r'^(?P<indent> *)\.\. (?P<name>[\w-]+)::(?P<argument>[^\n]*)\n'
                       r'(?P<body>(?:(?P=indent) {3}[^\n]*\n| *\n)*)', re.MULTILINE)
ROLE = re.compile(r':(?P<role>[\w:]+):`(?:[^`<]*<)?[~!]?(?P<target>[^`>]+)>?`')
PYTHON_ROLES = {'attr', 'class', 'data', 'exc', 'func', 'meth', 'mod', 'obj'}


def read(page):
    return (DOCS / f'{page}.rst').read_text(encoding='utf-8')


def directives(text, *names):
    """Yield line, name, argument, options and content of directives."""
    for match in DIRECTIVE.finditer(text):
        if match['name'] in names:
            lines = textwrap.dedent(match['body']).strip('\n').split('\n')
            options = {}
            while lines and (option := re.fullmatch(r':([\w-]+): *(.*)', lines[0])):
                options[option[1]] = option[2]
                del lines[0]
            content = '\n'.join(lines).strip('\n') + '\n'
            yield (text.count('\n', 0, match.start()), match['name'], match['argument'].strip(),
                   options, content)


class Session:
    """The Python session and the shell in which a page is gone through."""

    def __init__(self, page, folder, monkeypatch):
        self.page = page
        self.monkeypatch = monkeypatch
        self.folder = folder
        self.failures = []
        # A real module, so that classes and functions of the page can be pickled.
        self.module = types.ModuleType('page')
        monkeypatch.setitem(sys.modules, 'page', self.module)
        self.runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
        self.checker = doctest.OutputChecker()

    def run(self):
        text = read(self.page)
        steps = [(example.lineno, self.run_example, example)
                 for example in doctest.DocTestParser().get_examples(text, self.page)]
        for line, _, path, *_ in directives(text, 'literalinclude'):
            steps.append((line, self.write, (os.path.basename(path), (DOCS / path).read_text())))
        for line, _, language, options, content in directives(text, 'code-block', 'code'):
            if 'caption' in options:
                steps.append((line, self.write, (options['caption'], content)))
            elif language == 'console':
                if 'not-run' not in options.get('class', ''):
                    steps.append((line, self.run_block, (line, options, content)))
            else:
                assert language != 'python', (
                    f'{self.page}, line {line + 1}: a block of Python that nothing checks; use '
                    '>>> or give it a caption')
        for _, action, what in sorted(steps, key=lambda step: step[0]):
            action(what)
        assert not self.failures, '\n'.join(self.failures)

    def write(self, what):
        caption, content = what
        path = pathlib.Path(os.path.expanduser(caption))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding='utf-8')
        importlib.invalidate_caches()

    def run_example(self, example):
        test = doctest.DocTest([example], {}, self.page, f'{self.page}.rst', 0, None)
        test.globs = self.module.__dict__
        self.runner.run(test, out=self.failures.append, clear_globs=False)

    def run_block(self, what):
        line, options, content = what
        for command, shown in commands_of(content):
            code, printed = self.shell(command)
            problem = None
            if (code != 0) != ('fails' in options.get('class', '')):
                problem = f'ended with code {code}'
            elif not self.checker.check_output(shown, printed, FLAGS):
                problem = f'should have printed\n{shown}'
            if problem is not None:
                self.failures.append(f'{self.page}, line {line + 1}: $ {command}\n{problem}\n'
                                     f'It printed\n{printed}')

    def shell(self, command):
        """Run a command; keep what it does to the environment and to the working directory."""
        state = self.folder / 'environment'
        script = f'{command}\ncode=$?\nenv -0 > {state}\nexit $code'
        done = subprocess.run(['bash', '-c', script], stdin=subprocess.DEVNULL, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        after = dict(entry.split('=', 1) for entry in state.read_text().split('\0') if entry)
        for name in after.keys() | os.environ.keys():
            if name in ('_', 'SHLVL', 'OLDPWD') or after.get(name) == os.environ.get(name):
                continue
            if name in after:
                self.monkeypatch.setenv(name, after[name])
            else:
                self.monkeypatch.delenv(name)
        self.monkeypatch.chdir(after['PWD'])
        return done.returncode, done.stdout.decode()


def commands_of(content):
    """Yield the commands of a console block, each with what it should print."""
    for part in re.split(r'^\$ ', content, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition('\n')
        while shown.startswith('> '):
            more, _, shown = shown[2:].partition('\n')
            command += f'\n{more}'
        yield command, shown


@pytest.fixture
def session(tmp_path, monkeypatch):
    """Return what makes the session of a page, in a folder and with a home of its own."""
    for name in ('commands', 'home', 'page'):
        (tmp_path / name).mkdir()
    for name in ('fuel-convert', 'fuel-download', 'fuel-info'):
        script = tmp_path / 'commands' / name
        script.write_text(f'#!{sys.executable}\nfrom fuel.bin.{name.replace("-", "_")} import main'
                          '\nmain()\n')
        script.chmod(0o755)
    (tmp_path / 'commands' / 'python').write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / 'commands' / 'python').chmod(0o755)
    for name in [name for name in os.environ if name.startswith(('FUEL_', 'XDG_'))]:
        if name != 'FUEL_KERNELS':
            monkeypatch.delenv(name)
    for name in ('http_proxy', 'https_proxy', 'all_proxy'):
        monkeypatch.setenv(name, NOWHERE)
        monkeypatch.setenv(name.upper(), NOWHERE)
    for name in ('no_proxy', 'NO_PROXY'):
        monkeypatch.delenv(name, raising=False)
    # Settings that a page declares go with it.
    monkeypatch.setattr(fuel.config, 'config',
                        {key: dict(entry) for key, entry in fuel.config.config.items()})
    monkeypatch.setenv('HOME', str(tmp_path / 'home'))
    monkeypatch.setenv('PATH', f'{tmp_path / "commands"}{os.pathsep}{os.environ["PATH"]}')
    monkeypatch.setenv('PYTHONPATH', str(pathlib.Path(fuel.__file__).parent.parent))
    monkeypatch.setenv('PYTHONDONTWRITEBYTECODE', '1')
    monkeypatch.setattr(sys, 'dont_write_bytecode', True)
    monkeypatch.setattr(sys, 'path', [str(tmp_path / 'page'), *sys.path])
    monkeypatch.chdir(tmp_path / 'page')
    monkeypatch.setenv('PWD', str(tmp_path / 'page'))
    yield lambda page: Session(page, tmp_path, monkeypatch)
    for name, module in list(sys.modules.items()):
        if str(getattr(module, '__file__', None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.parametrize('page', PAGES)
def test_examples_of_page_run(page, session):
    session(page).run()


def test_examples_of_readme_run(session):
    made = session('../README')
    for example in doctest.DocTestParser().get_examples(read('../README')):
        made.run_example(example)
    assert not made.failures, '\n'.join(made.failures)


@pytest.mark.parametrize('name', MODULES)
def test_examples_of_docstrings_run(name, session):
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    failures = []
    for test in doctest.DocTestFinder().find(module, name):
        runner.run(test, out=failures.append)
    assert not failures, '\n'.join(failures)


def absolute(page, target):
    """Return the name of a page, given how another one refers to it."""
    if target.startswith('/'):
        return target[1:]
    return os.path.normpath(os.path.join(os.path.dirname(page), target)).replace(os.sep, '/')


def test_every_page_can_be_reached_from_the_index():
    reached, waiting = set(), ['index']
    while waiting:
        page = waiting.pop()
        assert page in PAGES, f'a toctree names {page}, which does not exist'
        reached.add(page)
        for *_, content in directives(read(page), 'toctree'):
            for entry in content.split('\n'):
                target = re.sub(r'.*<(.*)>', r'\1', entry.strip())
                if target and absolute(page, target) not in reached:
                    waiting.append(absolute(page, target))
    assert reached == set(PAGES)


@pytest.mark.parametrize('page', PAGES)
def test_references_of_page_lead_somewhere(page):
    labels = {label for other in PAGES
              for label in re.findall(r'^\.\. _([\w-]+):\s*$', read(other), re.MULTILINE)}
    for match in ROLE.finditer(read(page)):
        role, target = match['role'], ' '.join(match['target'].split())
        if role == 'doc':
            assert absolute(page, target) in PAGES, match[0]
        elif role == 'ref':
            assert target in labels, match[0]
        elif role in PYTHON_ROLES:
            assert resolve(target) is not None, match[0]
        else:
            raise AssertionError(f'nothing checks where {match[0]} leads')


def resolve(target):
    """Return what a dotted name stands for."""
    parts = target.removesuffix('()').split('.')
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module('.'.join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for name in parts[count:]:
            # Attributes that are set on objects have no place on the class but in its docstring.
            found = (found.__doc__ if isinstance(found, type) and not hasattr(found, name)
                     and re.search(rf'^\s*[\w, ]*\b{name}\b', found.__doc__ or '', re.MULTILINE)
                     else getattr(found, name))
        return found
    raise AssertionError(f'there is no {target}')


@pytest.mark.parametrize('page', [page for page in PAGES if page.startswith('reference/')])
def test_names_in_the_reference_exist(page):
    text = read(page)
    module = ''
    documented = 0
    for _, name, argument, _, content in directives(
            text, 'automodule', 'autoclass', 'autofunction', 'autodata', 'autoexception',
            'currentmodule', 'module', 'autosummary'):
        if name in ('automodule', 'currentmodule', 'module'):
            module = argument
            importlib.import_module(module)
        elif name == 'autosummary':
            for entry in content.split():
                resolve(f'{module}.{entry.lstrip("~")}' if not entry.startswith('fuel')
                        else entry)
        else:
            resolve(argument if argument.startswith('fuel') else f'{module}.{argument}')
        documented += 1
    assert documented or page == 'reference/index'


@pytest.fixture
def drawings(monkeypatch):
    """Return the functions that draw the pictures of the pages, by name."""
    monkeypatch.setattr(sys, 'dont_write_bytecode', True)
    monkeypatch.syspath_prepend(DOCS / '_ext')
    yield importlib.import_module('transformer_pictures').PICTURES
    for name in ('transformer_pictures', 'drawing'):
        sys.modules.pop(name, None)


def test_pictures_of_pages_are_those_that_there_are(drawings):
    shown = [name for page in PAGES for _, _, name, *_ in directives(read(page), 'picture')]
    assert set(shown) == set(drawings)


def test_pictures_can_be_drawn(drawings):
    for name, drawing in drawings.items():
        root = xml.etree.ElementTree.fromstring(drawing())
        assert root.tag == '{http://www.w3.org/2000/svg}svg', name
        assert drawing() == drawing(), f'{name} is another one each time'
        assert drawing.__doc__, f'{name} has no words for those who do not see it'


SHEETS = sorted({name for page in PAGES for _, _, name, *_ in directives(read(page), 'sheet')})


@pytest.fixture
def draw_sheet(monkeypatch):
    """Return what draws the contact sheets of the pages."""
    monkeypatch.setattr(sys, 'dont_write_bytecode', True)
    monkeypatch.syspath_prepend(DOCS / '_ext')
    yield importlib.import_module('data_set_sheets').draw
    sys.modules.pop('data_set_sheets', None)


@pytest.mark.parametrize('name', SHEETS)
def test_sheets_of_pages_can_be_drawn(name, draw_sheet, tmp_path):
    assert name in dict(all_converters)
    assert callable(importlib.import_module(f'tests.raw.{name}').write)
    draw_sheet(name, tmp_path / 'sheet.png')
    with Image.open(tmp_path / 'sheet.png') as image:
        assert image.width == 1200


def test_change_fragments_have_proper_names():
    assert FRAGMENTS.is_dir()
    for path in FRAGMENTS.glob('*.rst'):
        assert re.fullmatch(r'[a-z0-9-]+\.(added|changed|fixed|removed)\.rst', path.name)
