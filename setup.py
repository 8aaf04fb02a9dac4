"""Builds the Cython extensions; everything else about the package stands in setup.cfg."""
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = sorted(path.stem for path in Path(__file__).parent.glob('fuel/_kernels/*.pyx'))
HEADERS = sorted(map(str, Path(__file__).parent.glob('fuel/_kernels/*.h')))

extensions = cythonize([
    Extension(
        f'fuel._kernels.{name}', [f'fuel/_kernels/{name}.pyx'],
        include_dirs=[numpy.get_include()], depends=HEADERS,
        define_macros=[('NPY_NO_DEPRECATED_API', 'NPY_1_7_API_VERSION')])
    for name in KERNELS
], language_level=3)

for extension in extensions:
    # Without a C compiler the installation goes on, and the numpy twins do the work. (cythonize
    # makes new Extension objects, so this cannot be said above.)
    extension.optional = True

setup(ext_modules=extensions)
