"""Datasets of labelled images: named ones, folders, and NumPy arrays."""
from __future__ import annotations

import os
import operator
from typing import Any, Optional, Sequence, Union

import numpy

from . import _library
from ._arrays import image_shape, pointer, to_bytes, to_labels, view
from ._command import strings
from ._errors import Invalid
from ._library import check, ffi, lib, path_bytes, text

DataLike = Union[str, os.PathLike, 'Dataset', tuple]


class Dataset:
    """Labelled images in memory: `images` (count, channels, height, width) as uint8, `labels`, `classes` (names)."""

    def __init__(self, handle: Any, keep: Any = None) -> None:
        self._c = handle
        self._keep = keep

    @classmethod
    def open(cls, name: Union[str, os.PathLike], split: str = 'train', *,
             folder: Union[str, os.PathLike, None] = None) -> 'Dataset':
        """Opens "mnist", "fashion", "synth", "synth:count=500,seed=7" or a folder (docs/data.md)."""
        number = _library.choice('split', split, ['train', 'test'])
        place = ffi.new('heddle_dataset **')
        where = ffi.NULL if folder is None else ffi.new('char[]', path_bytes(folder))
        check(lib.heddle_dataset_open(path_bytes(name), where, number, place))
        return cls(place[0])

    @classmethod
    def from_arrays(cls, images: Any, labels: Any, *, classes: Union[int, Sequence[str], None] = None,
                    name: str = 'arrays', split: str = 'train') -> 'Dataset':
        """Makes a dataset of arrays. uint8 images are used where they are; floats in [0, 1] are rounded to bytes.

        `classes` is the number of classes or their names; default: the largest label and one more.
        """
        pixels = to_bytes(images)
        count, channels, height, width = image_shape(pixels)
        numbers = to_labels(labels, count)
        names = None
        if isinstance(classes, (int, numpy.integer)):
            total = operator.index(classes)
        else:
            names = None if classes is None else strings('classes', classes)
            total = len(names) if names is not None else int(numbers.max()) + 1 if count else 0
        given = ffi.new('heddle_dataset *')
        given.name = name.encode()[-63:].decode(errors='ignore').encode()
        given.split = _library.choice('split', split, ['train', 'test'])
        given.count, given.channels, given.height, given.width = count, channels, height, width
        given.classes = total
        given.images = pointer(pixels, 'const uint8_t *')
        given.labels = pointer(numbers, 'const uint8_t *')
        texts = [ffi.new('char[]', path_bytes(each)) for each in names or []]
        table = ffi.new('const char *[]', texts or [ffi.NULL])
        given.class_names = table if texts else ffi.NULL
        place = ffi.new('heddle_dataset **')
        check(lib.heddle_dataset_create(given, place))
        return cls(place[0], (pixels, numbers))

    @property
    def name(self) -> str:
        return text(self._c.name)

    @property
    def split(self) -> str:
        return 'train' if self._c.split == lib.HEDDLE_TRAIN else 'test'

    @property
    def images(self) -> numpy.ndarray:
        """(count, channels, height, width), uint8. Read-only, and not a copy."""
        shape = (self._c.count, self._c.channels, self._c.height, self._c.width)
        return view(self, self._c.images, shape, 'u1')

    @property
    def labels(self) -> numpy.ndarray:
        """(count), uint8. Read-only, and not a copy."""
        return view(self, self._c.labels, (self._c.count,), 'u1')

    @property
    def classes(self) -> list[str]:
        names = self._c.class_names
        return [text(names[i]) if names else str(i) for i in range(self._c.classes)]

    def __len__(self) -> int:
        return int(self._c.count)

    def __del__(self) -> None:
        if getattr(self, '_c', None) and _library and _library.ending is False:
            lib.heddle_dataset_close(self._c)

    def __repr__(self) -> str:
        return (f'heddle.Dataset({self.name!r}, {self.split!r}: {len(self)} images of {self._c.channels}×{self._c.height}×'
                f'{self._c.width}, {self._c.classes} classes)')


def dataset_of(given: Any, split: str, *, folder: Union[str, os.PathLike, None] = None,
               classes: Union[int, Sequence[str], None] = None) -> Dataset:
    """What data= takes: a dataset, its name or folder, or (images, labels)."""
    if isinstance(given, Dataset):
        return given
    if isinstance(given, (str, os.PathLike)):
        return Dataset.open(given, split, folder=folder)
    if isinstance(given, (tuple, list)) and len(given) == 2:
        return Dataset.from_arrays(given[0], given[1], split=split, classes=classes)
    raise Invalid(f'data of type {type(given).__name__}; give a name, a folder, a heddle.Dataset or (images, labels)')


def default_dataset(folder: Optional[Union[str, os.PathLike]] = None) -> str:
    """The name of the best dataset that is installed: mnist, fashion, else synth."""
    return text(lib.heddle_dataset_default(ffi.NULL if folder is None else path_bytes(folder)))
