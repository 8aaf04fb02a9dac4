"""The pictures of the pages about transformers, each a function that draws it."""
import functools
import io

import numpy
from drawing import flow, gallery

from fuel.datasets import IndexableDataset, IterableDataset
from fuel.schemes import (
    ConstantScheme,
    SequentialExampleScheme,
    SequentialScheme,
    ShuffledExampleScheme,
    ShuffledScheme,
)
from fuel.streams import DataStream
from fuel.transformers import (
    Batch,
    Cache,
    Cast,
    Filter,
    FilterSources,
    Flatten,
    LengthBuckets,
    Mapping,
    Merge,
    Normalize,
    OneHot,
    Padding,
    Rename,
    Repeat,
    ScaleAndShift,
    ShuffleBuffer,
    Skip,
    SortMapping,
    SourceMapping,
    Take,
    Tolerant,
    Unpack,
)
from fuel.transformers.image import (
    CenterCrop,
    FixedCrop,
    ImagesFromBytes,
    MinimumImageDimensions,
    Random2DRotation,
    RandomFixedSizeCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    Resize,
)
from fuel.transformers.sequences import NGrams, Window

PICTURES = {}
NAMES = {item.__name__: item for item in (
    Batch, Cache, Cast, CenterCrop, ConstantScheme, DataStream, Filter, FilterSources, FixedCrop,
    Flatten, ImagesFromBytes, IndexableDataset, IterableDataset, LengthBuckets, Mapping, Merge,
    MinimumImageDimensions, NGrams, Normalize, OneHot, Padding, Random2DRotation,
    RandomFixedSizeCrop, RandomHorizontalFlip, RandomResizedCrop, Rename, Repeat, Resize,
    ScaleAndShift, SequentialExampleScheme, SequentialScheme, ShuffleBuffer,
    ShuffledExampleScheme, ShuffledScheme, Skip, SortMapping, SourceMapping, Take, Tolerant,
    Unpack, Window)}

SENTENCES = [[11, 12, 13, 14], [21], [31, 32, 33], [41, 42], [51, 52, 53, 54, 55], [61, 62]]


def drawn(function):
    """Put a picture under the name of its function, with hyphens."""
    PICTURES[function.__name__.replace('_', '-')] = function
    return function


def numbers(count):
    """Return a data set of numbers."""
    return IndexableDataset({'x': numpy.arange(count)})


def same_sentence(number):
    """Return the sentence that a number is of; zero is padding."""
    return None if number == 0 else int(number) // 10


def with_data(dataset, **others):
    """Return the names that lines of code use, with a data set."""
    return {**NAMES, 'dataset': dataset, **others}


# Batching.


@drawn
def batch():
    """Eight single examples become batches of three, three and two."""
    return flow(with_data(numbers(8)),
                'DataStream(dataset, iteration_scheme=SequentialExampleScheme(8))',
                'Batch(stream, iteration_scheme=ConstantScheme(3))')


@drawn
def unpack():
    """The examples of batches are given one by one."""
    return flow(with_data(numbers(7)),
                'DataStream(dataset, iteration_scheme=ShuffledScheme(7, batch_size=4))',
                'Unpack(stream)')


@drawn
def cache():
    """Batches of four become batches of three."""
    return flow(with_data(numbers(10)),
                'DataStream(dataset, iteration_scheme=SequentialScheme(10, batch_size=4))',
                'Cache(stream, iteration_scheme=ConstantScheme(3))')


@drawn
def keep():
    """Of eight examples those that are even are kept."""
    return flow(with_data(numbers(8)),
                'DataStream(dataset, iteration_scheme=SequentialExampleScheme(8))',
                'Filter(stream, lambda data: data[0] % 2 == 0)')


@drawn
def merge():
    """An English and a French stream become one stream with two sources."""
    def words(*them):
        return DataStream(IterableDataset({'words': list(them)}))
    return flow({**NAMES, 'english': words('one', 'two', 'three'),
                 'french': words('un', 'deux', 'trois')},
                'english', 'french', "Merge((english, french), ('english', 'french'))")


# Ragged text.


def sentences():
    """Return names with a data set of sentences."""
    return with_data(IndexableDataset({'text': SENTENCES}))


@drawn
def ragged_chain():
    """Sentences are put into a large batch, sorted, unpacked, put into small ones and padded."""
    return flow(sentences(),
                'DataStream(dataset, iteration_scheme=SequentialExampleScheme(6))',
                'Batch(stream, iteration_scheme=ConstantScheme(6))',
                'Mapping(stream, SortMapping(lambda example: len(example[0])))',
                'Unpack(stream)',
                'Batch(stream, iteration_scheme=ConstantScheme(2))',
                "Padding(stream, mask_dtype='uint8')", alike=same_sentence)


@drawn
def length_buckets():
    """Sentences are put into batches with neighbours of about the same length."""
    return flow(sentences(),
                'DataStream(dataset, iteration_scheme=SequentialExampleScheme(6))',
                'LengthBuckets(stream, max_tokens=6)', alike=same_sentence)


@drawn
def padding():
    """Sequences of unequal lengths become an array, and a mask is put beside it."""
    return flow(sentences(),
                'DataStream(dataset, iteration_scheme=SequentialScheme(6, batch_size=3))',
                "Padding(stream, mask_dtype='float32')", alike=same_sentence, with_form=True)


# Arrays.


@drawn
def arithmetic():
    """Pixels are scaled, shifted and cast, with the shape and dtype of each step."""
    pixels = numpy.array([[0, 51], [102, 255]], dtype='uint8')
    return flow(with_data(IndexableDataset({'pixels': pixels})),
                'DataStream(dataset, iteration_scheme=SequentialScheme(2, batch_size=2))',
                'ScaleAndShift(stream, scale=1 / 255, shift=0)',
                "Cast(stream, dtype='float32')", with_form=True,
                alike=lambda value: round(255 * float(value)) if value <= 1 else int(value))


@drawn
def flatten():
    """Two examples of two rows and two columns become two vectors."""
    return flow(with_data(IndexableDataset({'x': numpy.arange(8).reshape(2, 2, 2)})),
                'DataStream(dataset, iteration_scheme=SequentialScheme(2, batch_size=2))',
                'Flatten(stream)', with_form=True)


@drawn
def one_hot():
    """Labels become vectors with a one at the place of the label."""
    return flow(with_data(IndexableDataset({'label': numpy.array([2, 0, 1, 2])})),
                'DataStream(dataset, iteration_scheme=SequentialScheme(4, batch_size=2))',
                "OneHot(stream, classes=3, dtype='uint8')", with_form=True,
                alike=lambda value: (value if value.dtype != 'uint8' else 'one' if value else None))


# Sources.


@drawn
def sources():
    """Sources are renamed, left out, changed by a function, and added."""
    dataset = IndexableDataset({'features': [1, 2], 'targets': [10, 20], 'words': ['One', 'Two']})
    return flow(with_data(dataset),
                'DataStream(dataset, iteration_scheme=SequentialExampleScheme(2))',
                "Rename(stream, {'features': 'x', 'targets': 'y'})",
                "SourceMapping(stream, str.lower, which_sources=('words',))",
                "Mapping(stream, lambda data: (data[0] + data[1],), add_sources=('sum',))",
                "FilterSources(stream, ('x', 'words', 'sum'))")


# Order and epochs.


@drawn
def shuffle_buffer():
    """Every four examples in a row are put in random order, in each epoch in another one."""
    return flow(with_data(IterableDataset({'x': range(8)})), 'DataStream(dataset)',
                'ShuffleBuffer(stream, buffer_size=4)', epochs=2)


@drawn
def skip_and_take():
    """The first two steps are left out, and the next three are given."""
    return flow(with_data(numbers(8)),
                'DataStream(dataset, iteration_scheme=SequentialExampleScheme(8))',
                'Skip(stream, 2)', 'Take(stream, 3)')


@drawn
def truncated_epochs():
    """Each epoch gives the first three steps of another shuffled order."""
    return flow(with_data(numbers(8)),
                'DataStream(dataset, iteration_scheme=ShuffledExampleScheme(8))',
                'Take(stream, 3)', epochs=2)


@drawn
def repeat():
    """Two shuffled epochs are given as one."""
    return flow(with_data(numbers(4)),
                'DataStream(dataset, iteration_scheme=ShuffledExampleScheme(4))',
                'Repeat(stream, 2)')


# Sequences.


@drawn
def n_grams():
    """Pairs of neighbours in two sentences, each with the word that comes next."""
    return flow(with_data(IterableDataset({'words': [[11, 12, 13, 14], [21, 22, 23]]})),
                'DataStream(dataset)', 'NGrams(2, stream)')


@drawn
def window():
    """Two numbers are the source, and the two that come after them the target."""
    return flow(with_data(IterableDataset({'x': [[1, 2, 3, 4, 5, 6]]})), 'DataStream(dataset)',
                'Window(0, 2, 2, False, stream)')


# Bad examples.


@drawn
def tolerant():
    """An example that cannot be made a number is left out."""
    return flow(with_data(IndexableDataset({'number': ['1', '2', 'three', '4']})),
                'DataStream(dataset, iteration_scheme=SequentialExampleScheme(4))',
                'Tolerant(SourceMapping(stream, int))', alike=str)


# Images.


@functools.cache
def house():
    """Return a picture of which one can tell left from right and up from down."""
    from PIL import Image, ImageDraw
    image = Image.new('RGB', (240, 180))
    draw = ImageDraw.Draw(image)
    for row in range(120):
        draw.line((0, row, 240, row), fill=(110 + row, 170 + row // 2, 235))
    draw.rectangle((0, 120, 240, 180), fill=(112, 160, 88))
    draw.ellipse((20, 14, 60, 54), fill=(250, 208, 60))
    draw.rectangle((110, 70, 200, 140), fill=(214, 120, 86))
    draw.polygon(((98, 72), (155, 28), (212, 72)), fill=(128, 60, 52))
    draw.rectangle((125, 90, 147, 112), fill=(240, 240, 220))
    draw.rectangle((165, 98, 186, 140), fill=(88, 60, 40))
    for x in range(0, 240, 16):
        draw.rectangle((x, 148, x + 7, 172), fill=(236, 232, 224))
    return numpy.asarray(image).transpose(2, 0, 1).copy()


def images(**others):
    """Return names with a stream of the picture; of two, so that a step can be drawn."""
    dataset = IndexableDataset({'image': house()[None]}, axis_labels={
        'image': ('batch', 'channel', 'height', 'width')})
    return {**NAMES, **others,
            'stream': DataStream(dataset, iteration_scheme=SequentialExampleScheme(1))}


def encoded(image, kind, width):
    """Return a picture as the bytes of a file."""
    from PIL import Image
    file = io.BytesIO()
    picture = Image.fromarray(image.transpose(1, 2, 0))
    picture.resize((width, width * 3 // 4)).save(file, kind)
    return file.getvalue()


@drawn
def decode():
    """Files of pictures become arrays, are brought to one size, and become a batch."""
    files = [encoded(house(), 'JPEG', 160), encoded(house()[:, :, ::-1], 'PNG', 120),
             encoded(255 - house(), 'GIF', 200)]
    return flow(with_data(IndexableDataset({'file': files})),
                'DataStream(dataset, iteration_scheme=SequentialExampleScheme(3))',
                'ImagesFromBytes(stream)', 'Resize(stream, (60, 80))',
                'Batch(stream, iteration_scheme=ConstantScheme(3))', with_form=True)


@drawn
def crops():
    """A window of a picture: in the middle, at a fixed place, and at random places."""
    return gallery(images(), [('stream', 1), ('CenterCrop(stream, (120, 120))', 1),
                              ('FixedCrop(stream, (120, 120), offset=(0, -1))', 1),
                              ('RandomFixedSizeCrop(stream, (120, 120))', 4)])


@drawn
def resizes():
    """A picture made smaller by its short side, to an exact size, and with two filters."""
    return gallery(images(small=small()), [
        ('stream', 1), ('Resize(stream, 90)', 1), ('Resize(stream, (90, 90))', 1),
        ('small', 1), ('MinimumImageDimensions(small, (90, 90))', 1),
        ("MinimumImageDimensions(small, (90, 90), resample='bicubic')", 1)])


def small():
    """Return a stream of a small picture."""
    names = images()
    return Resize(names['stream'], 30)


@drawn
def random_resized_crops():
    """Windows of random size, place and proportions, all brought to one size."""
    return gallery(images(), [('stream', 1), ('RandomResizedCrop(stream, (110, 110))', 5)])


@drawn
def turns():
    """A picture mirrored in some of the epochs, and rotated by random angles."""
    names = images()
    names['stream'] = Resize(names['stream'], 110)
    return gallery(names, [('stream', 1), ('RandomHorizontalFlip(stream)', 4),
                           ('Random2DRotation(stream, maximum_rotation=0.5)', 4)])
