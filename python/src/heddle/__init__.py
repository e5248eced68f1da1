"""heddle: train networks, check CUDA programs without a GPU, and measure kernels.

    import heddle
    result = heddle.train('cnn', 'synth', epochs=2)
    network = heddle.load(result.checkpoint)
    network.predict(images)
    heddle.check('kernel.cu').findings

docs/python.md describes every call.
"""
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

__all__ = [
    'Context', 'Corrupt', 'Counter', 'Curve', 'Dataset', 'Device', 'DeviceError', 'DeviceInfo', 'Diverged', 'Error',
    'Evaluation', 'FileError', 'Finding', 'InternalError', 'Interrupted', 'Invalid', 'Kernel', 'Ladder', 'Layer', 'Missing',
    'Model', 'Network', 'NotFound', 'Operator', 'OutOfMemory', 'Place', 'Progress', 'Report', 'Result', 'Row', 'Rung',
    'Tensor', 'Unsupported', 'bench', 'check', 'default_context', 'devices', 'load', 'model_names', 'ops', 'read_safetensors',
    'runs', 'train', 'version',
]
