"""The build backend: scikit-build-core, which only knows files below this folder. libheddle's sources are beside it.

A source distribution gets a copy of them in source/. CMakeLists.txt takes them from there, or from the folder above.
"""
import pathlib
import shutil

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F401,F403 (the other hooks)

_HERE = pathlib.Path(__file__).resolve().parent.parent
_COPY = _HERE / 'source'
# What CMake reads, and nothing else.
_NEEDED = ['CMakeLists.txt', 'LICENSE', 'README.md', 'cmake', 'course', 'docs', 'examples', 'include', 'packaging', 'peers',
           'scripts', 'src', 'web']


def build_sdist(sdist_directory, config_settings=None):
    """The hook of PEP 517, with libheddle's sources inside."""
    if _COPY.exists():  # unpacked from a source distribution
        return _build.build_sdist(sdist_directory, config_settings)
    try:
        _COPY.mkdir()
        for name in _NEEDED:
            path = _HERE.parent / name
            if path.is_dir():
                shutil.copytree(path, _COPY / name, ignore=shutil.ignore_patterns('__pycache__', '*.pyc', 'a.out'))
            else:
                shutil.copy2(path, _COPY / name)
        return _build.build_sdist(sdist_directory, config_settings)
    finally:
        shutil.rmtree(_COPY)
