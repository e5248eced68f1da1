"""heddle: train networks, check CUDA programs without a GPU, and measure kernels.

    import heddle
    result = heddle.train('cnn', 'synth', epochs=2)
    network = heddle.load(result.checkpoint)
    network.predict(images)
    heddle.check('kernel.cu').findings

docs/python.md describes every call.
"""
import importlib
from typing import Any

from ._bench import Ladder, Operator, Row, Rung, bench, ops
from ._check import Counter, Finding, Kernel, Place, Report, check
from ._data import Dataset
from ._device import Device, DeviceInfo, devices
from ._errors import (Corrupt, DeviceError, Diverged, Error, FileError, InternalError, Invalid, Missing, NotFound,
                      OutOfMemory, Unsupported)
from ._library import version
from ._model import Layer, Model, model_names
from ._network import Evaluation, Network, load, read_safetensors
from ._tensor import Context, Tensor, default_context
from ._train import Curve, Interrupted, Progress, Result, runs, train

__version__ = version()


def from_torch(module: Any, path: Any = None, **options: Any) -> Any:
    """The model of a PyTorch module, and a checkpoint at `path`: heddle_torch.from_torch, which docs/pytorch.md describes."""
    return _torch_package().from_torch(module, path, **options)


def to_torch(path: Any) -> Any:
    """Makes a PyTorch module of a checkpoint: heddle_torch.to_torch, which docs/pytorch.md describes."""
    return _torch_package().to_torch(path)


def _torch_package() -> Any:
    try:
        return importlib.import_module('heddle_torch')
    except ModuleNotFoundError as error:
        if error.name != 'heddle_torch':
            raise
        raise Missing('heddle_torch is not installed: pip install --no-build-isolation ./python/torch, '
                      'as docs/pytorch.md says') from None


__all__ = [
    'Context', 'Corrupt', 'Counter', 'Curve', 'Dataset', 'Device', 'DeviceError', 'DeviceInfo', 'Diverged', 'Error',
    'Evaluation', 'FileError', 'Finding', 'InternalError', 'Interrupted', 'Invalid', 'Kernel', 'Ladder', 'Layer', 'Missing',
    'Model', 'Network', 'NotFound', 'Operator', 'OutOfMemory', 'Place', 'Progress', 'Report', 'Result', 'Row', 'Rung',
    'Tensor', 'Unsupported', 'bench', 'check', 'default_context', 'devices', 'from_torch', 'load', 'model_names', 'ops',
    'read_safetensors', 'runs', 'to_torch', 'train', 'version',
]
