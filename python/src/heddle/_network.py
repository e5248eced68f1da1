"""Trained networks: predict, evaluate, look at the parameters."""
from __future__ import annotations

import dataclasses
import threading
from typing import Any, Optional, Union

import numpy

from . import _draw, _library
from ._arrays import image_shape, pointer, to_numpy, to_pixels, view
from ._data import DataLike, dataset_of
from ._device import Device, device_of
from ._errors import Error, Invalid, NotFound
from ._library import check, ffi, lib, path_bytes, text
from ._model import Model
from ._train import PathLike, checkpoint_in, trained_on

_CHUNK = 64  # batches per call of the library; between two calls, Ctrl-C is heard


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """How well a network classifies a dataset. `confusion` has one row per true class, one column per predicted class."""
    count: int
    correct: int
    accuracy: float
    loss: float
    confusion: numpy.ndarray
    classes: list[str]

    def __repr__(self) -> str:
        return f'heddle.Evaluation(accuracy {self.accuracy:.2%}: {self.correct} of {self.count}, loss {self.loss:.4f})'

    def _repr_html_(self) -> str:
        most = max(int(self.confusion.max()), 1)
        head = ''.join(f'<th>{_draw.escape(name)}</th>' for name in self.classes)
        rows = []
        for name, counts in zip(self.classes, self.confusion):
            cells = ''.join(f'<td style="background:rgba(79,134,247,{0.75 * int(count) / most:.3f})">{int(count)}</td>'
                            for count in counts)
            rows.append(f'<tr><th>{_draw.escape(name)}</th>{cells}</tr>')
        return (f'<div><b>accuracy {self.accuracy:.2%}</b> ({self.correct} of {self.count}), loss {self.loss:.4f}. '
                f'Rows: true class, columns: predicted class.<table><tr><th></th>{head}</tr>{"".join(rows)}</table></div>')


class Network(_draw.Drawn):
    """A trained network on a device. Use load() to make one. Threads may share it; their calls take turns."""

    def __init__(self, checkpoint: PathLike, *, device: Union[Device, str, None] = None, batch: int = 256,
                 precision: str = 'fp32', kernels: str = 'fused', deterministic: bool = True, threads: int = 0) -> None:
        self.checkpoint = checkpoint_in(checkpoint)
        if not self.checkpoint.exists():
            raise NotFound(f'{self.checkpoint}: no such checkpoint')
        self.batch = batch
        self._lock = threading.Lock()
        self._parameters: Optional[dict[str, numpy.ndarray]] = None
        options = ffi.new('heddle_network_options *')
        options.batch, options.deterministic = batch, deterministic
        options.kernels = _library.choice('kernels', kernels, lib.heddle_tier_names)
        options.arithmetic = _library.precision_number(precision)
        self.model = Model.from_checkpoint(self.checkpoint)
        self._device = device_of(device, threads)
        place = ffi.new('heddle_network **')
        check(lib.heddle_network_open_with(self._device._c, path_bytes(self.checkpoint), options, place))
        self._c = place[0]
        self._device.retain()
        self.classes = [text(lib.heddle_network_class_name(self._c, i)) for i in range(self.model.classes)]

    def close(self) -> None:
        """Frees the network's memory now. A closed network predicts no more."""
        if not self._device.is_ours():  # the parent closes it
            return
        with self._lock:
            handle, self._c = getattr(self, '_c', None), None
        if handle and _library and _library.ending is False:
            lib.heddle_network_close(handle)
            self._device.release()

    def __enter__(self) -> 'Network':
        return self

    def __exit__(self, *ignored: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, '_c'):
            self.close()

    def _turn(self) -> threading.Lock:
        self._device.need()
        return self._lock

    def _open(self) -> Any:
        if not self._c:
            raise Invalid('this network is closed; load it again')
        return self._c

    def _images(self, given: Any) -> tuple[numpy.ndarray, bool]:
        """Images (count, channels, height, width), and whether one image was given."""
        array = to_numpy(given, 'images')
        expected = self.model.input
        single = array.shape == expected or (expected[0] == 1 and array.shape == expected[1:])
        if single:
            array = array.reshape((1, *expected))
        shape = image_shape(array)
        if shape[1:] != expected:
            raise Invalid(f'images of shape {array.shape}; this network takes {" × ".join(map(str, expected))} '
                          '(channels × height × width)')
        return to_pixels(array), single

    def predict(self, images: Any) -> numpy.ndarray:
        """Probabilities (count, classes) as float32; of one image, (classes).

        images: (count, channels, height, width), one image, or without the channels where there is one. uint8, or floats in
        [0, 1]. A NumPy array or anything with __dlpack__ in CPU memory; contiguous uint8 and float32 are not copied.
        """
        array, single = self._images(images)
        count = len(array)
        output = numpy.empty((count, self.model.classes), numpy.float32)
        bytes_given = array.dtype == numpy.uint8
        call, kind = ((lib.heddle_network_predict_bytes, 'const uint8_t *') if bytes_given
                      else (lib.heddle_network_predict, 'const float *'))
        part = self.batch * _CHUNK
        for first in range(0, count, part):
            here, there = array[first:first + part], output[first:first + part]
            with self._turn():
                check(call(self._open(), pointer(here, kind), len(here), pointer(there, 'float *')))
        return output[0] if single else output

    def classify(self, images: Any) -> Union[str, list[str]]:
        """The name of the most likely class of each image."""
        probabilities = self.predict(images)
        if probabilities.ndim == 1:
            return self.classes[int(probabilities.argmax())]
        return [self.classes[index] for index in probabilities.argmax(axis=1)]

    def calibrate(self, data: Optional[DataLike] = None, count: int = 512) -> bool:
        """Finds the ranges of activations, which precision="int8" needs before the first prediction.

        data: images like those that the network was trained on; default: these. Returns whether int8 will be used: a model
        with layers that have no int8 kernels is computed in a finer precision.
        """
        images = (dataset_of(data, 'train', classes=self.classes) if data is not None
                  else trained_on(self.checkpoint, 'train'))
        quantised = ffi.new('bool *')
        with self._turn():
            check(lib.heddle_network_calibrate(self._open(), images._c, count, quantised))
        return bool(quantised[0])

    def evaluate(self, data: Optional[DataLike] = None, *, data_folder: Optional[PathLike] = None) -> Evaluation:
        """Accuracy, loss and confusion on labelled images: a name, a folder, a Dataset or (images, labels).

        Default: the test images of the dataset that the network was trained on.
        """
        given = (dataset_of(data, 'test', folder=data_folder, classes=self.classes) if data is not None
                 else trained_on(self.checkpoint, 'test', data_folder))
        confusion = numpy.zeros((self.model.classes, self.model.classes), numpy.int32)
        result = ffi.new('heddle_evaluation *')
        result.confusion = pointer(confusion, 'int *')
        with self._turn():
            check(lib.heddle_network_evaluate(self._open(), given._c, result))
        used = result.classes
        confusion = confusion.reshape(-1)[:used * used].reshape(used, used)
        return Evaluation(result.count, result.correct, result.accuracy, result.loss, confusion, self.classes[:used])

    @property
    def parameters(self) -> dict[str, numpy.ndarray]:
        """Names and values of all parameters, and of the running statistics, as the checkpoint has them."""
        if self._parameters is None:
            everything = read_safetensors(self.checkpoint)
            self._parameters = {name: array for name, array in everything.items() if '/' not in name}
        return dict(self._parameters)

    def __repr__(self) -> str:
        return f'heddle.Network({str(self.checkpoint)!r}, {self._device.kind!r}): {self.model!r}'

    def _svg(self) -> tuple[float, float, str]:
        return self.model._svg()


def load(path: PathLike, *, device: Union[Device, str, None] = None, batch: int = 256, precision: str = 'fp32',
         kernels: str = 'fused', deterministic: bool = True, threads: int = 0) -> Network:
    """Loads a checkpoint, or the best one in the folder of a run, to predict with.

    batch: images that are computed together, at most. precision: as in train(), or "int8" (see Network.calibrate).
    """
    return Network(path, device=device, batch=batch, precision=precision, kernels=kernels, deterministic=deterministic,
                   threads=threads)


class _File:
    """An open safetensors file."""

    def __init__(self, path: PathLike) -> None:
        place = ffi.new('heddle_safetensors **')
        check(lib.heddle_safetensors_open(path_bytes(path), place))
        self.handle = place[0]

    def __del__(self) -> None:
        if getattr(self, 'handle', None) and _library and _library.ending is False:
            lib.heddle_safetensors_close(self.handle)


def read_safetensors(path: PathLike) -> dict[str, numpy.ndarray]:
    """The arrays of a safetensors file, read-only. The file is checked as a whole before. bf16 is widened to float32."""
    file = _File(path)
    kinds = {'f32': 'f4', 'f64': 'f8', 'f16': 'f2', 'bf16': 'u2', 'i32': 'i4', 'i64': 'i8', 'u8': 'u1', 'i8': 'i1'}
    arrays = {}
    for index in range(lib.heddle_safetensors_count(file.handle)):
        entry = lib.heddle_safetensors_at(file.handle, index)
        dtype = text(lib.heddle_dtype_name(entry.dtype))
        if dtype not in kinds:
            raise Error(f'{path}: array {text(entry.name)} has type {dtype}, which NumPy does not have')
        shape = tuple(entry.dims[i] for i in range(entry.rank))
        array = view(file, entry.data, shape, kinds[dtype]) if entry.bytes else numpy.empty(shape, kinds[dtype])
        if dtype == 'bf16':
            array = (array.astype(numpy.uint32) << 16).view(numpy.float32)
        arrays[text(entry.name)] = array
    return arrays
