"""Models: layers and the shapes of their parameters, without memory for them."""
from __future__ import annotations

import dataclasses
import json
import os
from typing import Any, Optional, Union

from . import _draw, _library
from ._errors import Invalid
from ._library import check, ffi, lib, path_bytes, text

ModelLike = Union[str, os.PathLike, dict, 'Model']


@dataclasses.dataclass(frozen=True)
class Layer:
    """What a layer is and gives for one image."""
    name: str                # "conv1"
    type: str                # "conv2d"
    details: str             # "channels 32, kernel 3, padding 1"
    output: tuple[int, ...]  # shape, without the batch
    parameters: int


class Model(_draw.Drawn):
    """A model for images of a shape (channels, height, width) and a number of classes.

    `given` is a built-in model such as "cnn" (model_names()), the path of a model file, or such a file's content as a
    dictionary (docs/models.md). A dictionary with an "input" needs no shape.
    """

    def __init__(self, given: Union[str, os.PathLike, dict], input: Optional[tuple[int, int, int]] = None,
                 classes: Optional[int] = None) -> None:
        shape = ffi.NULL
        if input is not None:
            if len(input) != 3 or classes is None:
                raise Invalid(f'a model needs input=(channels, height, width) and classes, and got {input}, {classes}')
            shape = ffi.new('heddle_input_shape *', [int(each) for each in input] + [int(classes)])
        place = ffi.new('heddle_model **')
        if isinstance(given, dict):
            try:
                content = json.dumps(given, allow_nan=False)
            except (TypeError, ValueError) as error:
                raise Invalid(f'the model is not JSON: {error}') from None
            check(lib.heddle_model_parse(b'model', content.encode(), shape, place))
        elif isinstance(given, (str, os.PathLike)):
            if shape == ffi.NULL:
                raise Invalid('a model needs input=(channels, height, width) and classes=N')
            check(lib.heddle_model_open(path_bytes(given), shape, place))
        else:
            raise Invalid(f'a model of type {type(given).__name__}; give a name, a path, a dictionary or a heddle.Model')
        self._take(place[0])

    def _take(self, handle: Any) -> None:
        """Reads everything that there is to know, so that the handle is needed for training alone."""
        self._c = handle
        self.name = text(lib.heddle_model_name(handle))
        shape = lib.heddle_model_input(handle)
        self.input: tuple[int, int, int] = (shape.channels, shape.height, shape.width)
        self.classes = int(shape.classes)
        self.parameter_count = int(lib.heddle_model_parameters(handle))
        self.layers = []
        info = ffi.new('heddle_layer_info *')
        for index in range(lib.heddle_model_layers(handle)):
            check(lib.heddle_model_layer(handle, index, info))
            self.layers.append(Layer(text(info.name), text(info.type), text(info.details),
                                     tuple(info.dims[i] for i in range(info.rank)), int(info.parameters)))

    @classmethod
    def from_checkpoint(cls, path: Union[str, os.PathLike]) -> 'Model':
        """The model that a checkpoint carries."""
        place = ffi.new('heddle_model **')
        check(lib.heddle_model_from(path_bytes(path), place))
        made = cls.__new__(cls)
        made._take(place[0])
        return made

    def to_dict(self) -> dict:
        """The model as a model file has it, with its input."""
        return json.loads(text(lib.heddle_model_json(self._c)))

    def __del__(self) -> None:
        if getattr(self, '_c', None) and _library and _library.ending is False:
            lib.heddle_model_close(self._c)

    def __repr__(self) -> str:
        lines = [f'{self.name}: {" × ".join(map(str, self.input))} to {self.classes} classes, '
                 f'{self.parameter_count:,} parameters']
        width = max([len(each.name) for each in self.layers], default=0)
        lines += [f'  {each.name:{width}}  {" × ".join(map(str, each.output)):14}  {each.details}'.rstrip()
                  for each in self.layers]
        return '\n'.join(lines)

    def _svg(self) -> tuple[float, float, str]:
        return _draw.network(self.name, self.input, self.layers)


def model_of(given: ModelLike, input: tuple[int, int, int], classes: int) -> Model:
    return given if isinstance(given, Model) else Model(given, input, classes)


def model_names() -> list[str]:
    """The built-in models."""
    names = lib.heddle_model_names()
    found: list[str] = []
    while names[len(found)] != ffi.NULL:
        found.append(text(names[len(found)]))
    return found
