"""From what people have (NumPy arrays, anything with __dlpack__, lists) to memory that C reads, without copies if possible."""
from __future__ import annotations

from typing import Any

import numpy

from ._errors import Invalid
from ._library import ffi


def to_numpy(given: Any, what: str) -> numpy.ndarray:
    """The same memory as an array, where it is on the CPU."""
    if isinstance(given, numpy.ndarray):
        return given
    if hasattr(given, '__dlpack__'):
        try:
            return numpy.from_dlpack(given)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            # NumPy before 2.1 takes no read-only memory, such as JAX's; those arrays can be copied.
            device = given.__dlpack_device__()[0] if hasattr(given, '__dlpack_device__') else 1
            if int(device) != 1 or not hasattr(given, '__array__'):
                raise Invalid(f'{what} cannot be read through DLPack: {error}; give an array in CPU memory') from None
    try:
        array = numpy.asarray(given)
    except Exception as error:
        raise Invalid(f'{what} is not an array: {error}') from None
    if array.dtype.kind in 'OUSmM':
        raise Invalid(f'{what} is not an array of numbers')
    return array


def image_shape(array: numpy.ndarray) -> tuple[int, int, int, int]:
    """(count, channels, height, width) of images; (count, height, width) has one channel."""
    if array.ndim == 3:
        return (array.shape[0], 1, array.shape[1], array.shape[2])
    if array.ndim == 4:
        return array.shape  # type: ignore[return-value]
    raise Invalid(f'images of shape {array.shape}; give (count, channels, height, width) or (count, height, width)')


def check_range(images: numpy.ndarray) -> None:
    """Fails unless every value is in [0, 1]: NaN, bytes as floats and normalised images give silent nonsense."""
    if images.size == 0:
        return
    low, high = float(images.min()), float(images.max())
    if not (low >= 0 and high <= 1):  # NaN is neither
        raise Invalid(f'images have values from {low:g} to {high:g}; floats must be from 0 to 1, bytes (uint8) from 0 to 255')


def to_pixels(given: Any, what: str = 'images') -> numpy.ndarray:
    """Images as contiguous uint8 or float32, with no copy where they are already."""
    array = to_numpy(given, what)
    if array.dtype == numpy.uint8:
        return numpy.ascontiguousarray(array)
    if array.dtype.kind != 'f':
        raise Invalid(f'{what} have type {array.dtype}; give uint8 (0 to 255) or floats (0 to 1)')
    array = numpy.ascontiguousarray(array, dtype=numpy.float32)
    check_range(array)
    return array


def to_bytes(given: Any, what: str = 'images') -> numpy.ndarray:
    """Images as a dataset has them: uint8. Floats are rounded to the nearest of 256 steps."""
    array = to_pixels(given, what)
    if array.dtype == numpy.uint8:
        return array
    return numpy.rint(array * 255).astype(numpy.uint8)


def to_labels(given: Any, count: int) -> numpy.ndarray:
    """Class numbers as uint8."""
    array = to_numpy(given, 'labels')
    if array.dtype.kind not in 'iu':
        raise Invalid(f'labels have type {array.dtype}; give integers, one per image')
    if array.shape != (count,):
        raise Invalid(f'labels of shape {array.shape} for {count} images; give one label per image')
    if count and (int(array.min()) < 0 or int(array.max()) > 255):
        raise Invalid(f'labels from {array.min()} to {array.max()}; classes are numbered from 0 to at most 255')
    return numpy.ascontiguousarray(array, dtype=numpy.uint8)


def pointer(array: numpy.ndarray, kind: str) -> Any:
    """A C pointer to an array's memory; the array must outlive it. Read-only arrays are for reading alone."""
    if array.size == 0:
        return ffi.NULL
    return ffi.cast(kind, array.__array_interface__['data'][0])


class View:
    """Memory of the library as an array that keeps its owner alive."""

    def __init__(self, owner: Any, address: Any, shape: tuple[int, ...], dtype: str) -> None:
        self.owner = owner
        self.__array_interface__ = {'version': 3, 'shape': shape, 'typestr': numpy.dtype(dtype).str,
                                    'data': (int(ffi.cast('uintptr_t', address)), True)}


def view(owner: Any, address: Any, shape: tuple[int, ...], dtype: str) -> numpy.ndarray:
    return numpy.asarray(View(owner, address, shape, dtype))
