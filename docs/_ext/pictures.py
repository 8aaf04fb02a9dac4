"""The directive ``.. picture:: NAME``: a picture that the build draws by running the library.

Pictures are functions of `transformer_pictures`. What stands in the directive is the caption.
"""
import pathlib

import transformer_pictures
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

FOLDER = 'pictures'


class picture(nodes.General, nodes.Element):
    """A drawn picture."""


class Picture(SphinxDirective):
    """Draws a picture and puts a caption below."""

    required_arguments = 1
    has_content = True

    def run(self):
        name = self.arguments[0]
        for file in ('drawing.py', 'transformer_pictures.py'):
            self.env.note_dependency(str(pathlib.Path(__file__).with_name(file)))
        drawing = transformer_pictures.PICTURES.get(name)
        if drawing is None:
            raise self.error(f'there is no picture {name!r}; there are '
                             f'{", ".join(sorted(transformer_pictures.PICTURES))}')
        figure = nodes.container(classes=['picture'])
        figure += picture(name=name, svg=drawing(), alt=' '.join(drawing.__doc__.split()))
        if self.content:
            caption = nodes.container(classes=['picture-caption'])
            caption += self.parse_content_to_nodes()
            figure += caption
        return [figure]


def visit_html(self, node):
    """Write the file into the build folder, and refer to it."""
    builder = self.builder
    folder = pathlib.Path(builder.outdir, builder.imagedir, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath(f'{node["name"]}.svg').write_text(node['svg'], encoding='utf-8')
    self.body.append(self.emptytag(
        node, 'img', '\n', src=f'{builder.imgpath}/{FOLDER}/{node["name"]}.svg', alt=node['alt'],
        style='max-width: 100%'))
    raise nodes.SkipNode


def visit_other(self, node):
    """Give other builders the words."""
    self.body.append(node['alt']) if hasattr(self, 'body') else self.add_text(node['alt'])
    raise nodes.SkipNode


def setup(app):
    """Register the directive."""
    app.add_node(picture, html=(visit_html, None), latex=(visit_other, None),
                 text=(visit_other, None), man=(visit_other, None), texinfo=(visit_other, None))
    app.add_directive('picture', Picture)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
