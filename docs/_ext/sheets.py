"""The directive ``.. sheet:: NAME``: what ``fuel-info --sheet`` draws of a converted data set.

See `data_set_sheets`. What stands in the directive is the caption; that the data are invented is
added to it.
"""
import pathlib
import tempfile

from data_set_sheets import ROOT, draw, origin
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

FOLDER = 'sheets'


class sheet(nodes.General, nodes.Element):
    """A contact sheet."""


class Sheet(SphinxDirective):
    """Draws a contact sheet and puts a caption below."""

    required_arguments = 1
    has_content = True

    def run(self):
        name = self.arguments[0]
        for file in ('docs/_ext/data_set_sheets.py', f'tests/raw/{name}.py'):
            self.env.note_dependency(str(ROOT / file))
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, 'sheet.png')
            try:
                converted = draw(name, out)
            except Exception as error:
                raise self.error(f'the sheet of {name} cannot be drawn: {error!r}') from error
            content = out.read_bytes()
        words = origin(name)
        alt = (f'Contact sheet of {converted}: examples with their targets, how many there are of '
               f'each class, how values are spread. {words}').strip()
        figure = nodes.container(classes=['picture'])
        figure += sheet(name=name, png=content, alt=alt)
        if self.content or words:
            caption = nodes.container(classes=['picture-caption'])
            if self.content:
                caption += self.parse_content_to_nodes()
            if words:
                caption += nodes.paragraph('', words)
            figure += caption
        return [figure]


def visit_html(self, node):
    """Write the file into the build folder, and refer to it."""
    builder = self.builder
    folder = pathlib.Path(builder.outdir, builder.imagedir, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath(f'{node["name"]}.png').write_bytes(node['png'])
    address = f'{builder.imgpath}/{FOLDER}/{node["name"]}.png'
    self.body.append(self.starttag(node, 'a', '', href=address))
    self.body.append(self.emptytag(node, 'img', '\n', src=address, alt=node['alt'],
                                   style='max-width: 100%; border: 1px solid #ddd'))
    self.body.append('</a>')
    raise nodes.SkipNode


def visit_other(self, node):
    """Give other builders the words."""
    self.body.append(node['alt']) if hasattr(self, 'body') else self.add_text(node['alt'])
    raise nodes.SkipNode


def setup(app):
    """Register the directive."""
    app.add_node(sheet, html=(visit_html, None), latex=(visit_other, None),
                 text=(visit_other, None), man=(visit_other, None), texinfo=(visit_other, None))
    app.add_directive('sheet', Sheet)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
