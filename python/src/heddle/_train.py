"""Training: a call, its progress, its result and its curve."""
from __future__ import annotations

import dataclasses
import json
import math
import os
import pathlib
from typing import Any, Callable, Iterator, Optional, Sequence, Union

from . import _draw, _library
from ._data import DataLike, Dataset, dataset_of, default_dataset
from ._device import Device, device_of
from ._errors import FileError, Invalid, NotFound
from ._library import check, ffi, lib, path_bytes, text
from ._model import Model, ModelLike, model_of

PathLike = Union[str, os.PathLike]
BEST, LAST, CURVE = 'best.safetensors', 'last.safetensors', 'curve.jsonl'
_OPTIMIZERS = ['sgd', 'momentum', 'adamw']
_SCHEDULES = ['constant', 'linear', 'cosine']
_KINDS = ['started', 'step', 'evaluated', 'saved']


def _epochs(count: int) -> str:
    return f'{count} epoch{"" if count == 1 else "s"}'


@dataclasses.dataclass(frozen=True)
class Progress:
    """What train() calls progress= with. `kind` is "started", "step", "evaluated" (after an epoch) or "saved"."""
    kind: str
    epoch: int  # from 1
    epochs: int
    images: int  # done in this epoch
    images_total: int
    loss: float  # of the epoch so far; "evaluated": on the test images
    accuracy: float
    best_accuracy: float  # NaN before the first evaluation
    seconds: float  # of training so far
    path: Optional[pathlib.Path]  # "saved"


class Curve(_draw.Drawn):
    """Loss and accuracy of a run: `steps` (about 500 points) and `tests` (one per epoch), each a list of dictionaries.

    The fields are those of curve.jsonl (docs/training.md). A notebook draws them.
    """

    def __init__(self, folder: PathLike) -> None:
        self.folder = pathlib.Path(folder)
        self.settings: dict[str, Any] = {}
        self.steps: list[dict[str, Any]] = []
        self.tests: list[dict[str, Any]] = []
        self.state = 'killed'
        try:
            content = (self.folder / CURVE).read_text(encoding='utf-8', errors='replace')
        except FileNotFoundError:
            raise NotFound(f'{self.folder} is not the folder of a run: it has no {CURVE}') from None
        for each in content.split('\n')[:-1]:  # a killed process may leave a last line without its end
            self._read(each)

    def _read(self, row: str) -> None:
        try:
            point = json.loads(row)
            event = point.pop('event')
        except (ValueError, KeyError, AttributeError, TypeError):
            return  # a damaged line; `heddle runs` warns of it
        if event == 'started':
            self.settings, self.state = point.get('settings', {}), 'running'
        elif event == 'step':
            self.steps.append(point)
        elif event == 'evaluated':
            self.tests.append(point)
        elif event == 'ended':
            self.state = point.get('state', '')

    def __repr__(self) -> str:
        best = max((point['accuracy'] for point in self.tests if isinstance(point.get('accuracy'), (int, float))),
                   default=math.nan)
        tested = 'not tested' if math.isnan(best) else f'{_epochs(len(self.tests))}, best test accuracy {best:.2%}'
        return f'heddle.Curve({str(self.folder)!r}: {len(self.steps)} points, {tested}, {self.state})'

    def _svg(self) -> tuple[float, float, str]:
        return _draw.curve(self.steps, self.tests)


@dataclasses.dataclass(frozen=True)
class Result(_draw.Drawn):
    """What a training run gave. Losses and accuracies on test images are NaN where there were none."""
    epochs: int
    train_loss: float
    train_accuracy: float
    test_loss: float
    test_accuracy: float
    best_accuracy: float
    seconds: float
    images_per_second: float
    folder: pathlib.Path

    @property
    def checkpoint(self) -> pathlib.Path:
        """The best checkpoint; without test images, the last one."""
        return checkpoint_in(self.folder)

    @property
    def curve(self) -> Curve:
        return Curve(self.folder)

    def __repr__(self) -> str:
        tested = ('not tested' if math.isnan(self.test_accuracy)
                  else f'test accuracy {self.test_accuracy:.2%}, best {self.best_accuracy:.2%}')
        return (f'heddle.Result({_epochs(self.epochs)} in {self.seconds:.1f} s, {self.images_per_second:.0f} images/s, '
                f'{tested}, {str(self.folder)!r})')

    def _svg(self) -> tuple[float, float, str]:
        width, height, body = self.curve._svg()
        return width, height + 24, f'<g transform="translate(0 24)">{body}</g>' + _draw.label(0, 16, repr(self))


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped a run after a step; `result` is what it has reached, and its checkpoint is saved.

    train(folder=result.folder, resume=True) continues it.
    """

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result


def checkpoint_in(path: PathLike) -> pathlib.Path:
    """A checkpoint, or the best one in the folder of a run."""
    found = pathlib.Path(path)
    if not found.is_dir():
        return found
    for name in (BEST, LAST):
        if (found / name).exists():
            return found / name
    raise NotFound(f'{found} has neither {BEST} nor {LAST}: it is not the folder of a run')


# --- the folder ----------------------------------------------------------------------------------------------------------

def _take_folder(base: pathlib.Path) -> pathlib.Path:
    """Makes BASE, or BASE-2 and so on where that is there, as `heddle train` does."""
    folder, number = base.parent, 1
    try:
        folder.mkdir(parents=True, exist_ok=True)
        while True:
            folder = base if number == 1 else base.with_name(f'{base.name}-{number}')
            try:
                folder.mkdir()
                return folder
            except FileExistsError:
                number += 1
    except OSError as error:
        raise FileError(f'{folder}: cannot create this folder: {error.strerror}; name another one by folder=') from None


def _drop_empty(folder: pathlib.Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        pass


# --- listening -----------------------------------------------------------------------------------------------------------

class _Listener:
    """Hears the events of a run in the thread that trains, and stops the run when Python raises something."""

    def __init__(self, progress: Union[Callable[[Progress], Any], bool, None], until: Optional[float]) -> None:
        self.progress = _print_progress if progress is True else progress or None
        self.until = until
        self.error: Optional[BaseException] = None
        self.reached = False
        self.stop = ffi.new('int *', 0)
        self.callback = ffi.callback('void(void *, const heddle_train_event *)', self._hear, onerror=self._fail)

    def _hear(self, context: Any, event: Any) -> None:
        if self.progress and not self.error:
            self.progress(_progress_of(event))
        if event.kind == lib.HEDDLE_TRAIN_EVALUATED and self.until is not None and event.accuracy >= self.until:
            self.reached = True
            self.stop[0] = self.stop[0] or -1  # all that was wanted: the curve says complete

    def _fail(self, kind: Any, error: BaseException, trace: Any) -> None:
        self.error = self.error or error
        self.stop[0] = 1


def _progress_of(event: Any) -> Progress:
    return Progress(_KINDS[event.kind], event.epoch + 1, event.epochs, event.images, event.images_total, event.loss,
                    event.accuracy, event.best_accuracy, event.seconds,
                    pathlib.Path(text(event.path)) if event.path else None)


def _print_progress(event: Progress) -> None:
    if event.kind == 'evaluated':
        print(f'epoch {event.epoch}/{event.epochs}: test loss {event.loss:.4f}, test accuracy {event.accuracy:.2%}, '
              f'{event.seconds:.1f} s', flush=True)


# --- training ------------------------------------------------------------------------------------------------------------

def train(model: ModelLike = 'cnn', data: Optional[DataLike] = None, *, test: Optional[DataLike] = None,
          epochs: Optional[int] = None, batch: int = 16, optimizer: str = 'sgd', learning_rate: float = 0.05,
          schedule: str = 'linear', momentum: float = 0.9, weight_decay: float = 0.0, seed: int = 1, augment: str = 'none',
          kernels: str = 'fused', precision: str = 'fp32', deterministic: bool = True,
          device: Union[Device, str, None] = None, threads: int = 0, folder: Optional[PathLike] = None,
          overwrite: bool = False, resume: bool = False, save_every: float = 60.0, until: Optional[float] = None,
          classes: Union[int, Sequence[str], None] = None, data_folder: Optional[PathLike] = None,
          tensorboard: Optional[PathLike] = None, init: Optional[PathLike] = None,
          progress: Union[Callable[[Progress], Any], bool, None] = None) -> Result:
    """Trains a model on labelled images and saves the best and the last checkpoint.

    model:     a built-in model such as "cnn" (heddle.model_names()), the path of a model file, or its content as a
               dictionary.
    data:      "mnist", "fashion", "synth:count=2000", a folder, a Dataset, or (images, labels) as arrays.
               Default: the best set that is installed.
    test:      the same for evaluation after each epoch. Default: the test images of a named set or a folder; arrays have
               none, and then only last.safetensors is written.
    epochs:    passes over the training data; default: 3, or those of a resumed run.
    classes:   for arrays: the number of classes, or their names.
    precision: "fp32", "tf32x3", "tf32", "fp16" or "bf16" (docs/training.md).
    device:    "cpu", "cuda", "cuda:1" or "sim". Default: the GPU if there is one.
    folder:    where the run is saved; default: runs/DATA-MODEL, or runs/DATA-MODEL-2 if that exists, and so on.
    overwrite: replace the run in `folder`; without one, the run in runs/DATA-MODEL.
    resume:    continue the run in `folder` with the settings it was started with; only epochs, until, device and
               threads may change. A run on arrays needs them again as `data`.
    init:      a safetensors or ONNX file whose weights the run starts from, such as a PyTorch state_dict (docs/onnx.md).
    until:     stop after the first epoch with this test accuracy.
    progress:  called with a Progress after each step, in this thread. True prints one line per epoch. What it raises
               stops the run, which is saved, and is raised again.

    Ctrl-C finishes the step, saves, and raises Interrupted. Other options are those of `heddle train`.
    """
    if until is not None and not 0 <= until <= 1:
        raise Invalid(f'until={until}: give a fraction from 0 to 1; 99 % is 0.99')
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise Invalid(f'progress={progress!r}: give a function, or True')
    if resume and init is not None:
        raise Invalid('resume continues a run and init starts one; give one of them')
    if precision == 'int8':
        raise Invalid('int8 is for predicting alone: train in another precision, and load(..., precision="int8")')
    options = _resumed_options(folder) if resume else lib.heddle_train_defaults()
    if not resume:
        options.batch, options.seed = batch, seed
        options.optimizer = _library.choice('optimizer', optimizer, _OPTIMIZERS)
        options.schedule = _library.choice('schedule', schedule, _SCHEDULES)
        options.learning_rate, options.momentum, options.weight_decay = learning_rate, momentum, weight_decay
        options.kernels = _library.choice('kernels', kernels, lib.heddle_tier_names)
        options.arithmetic = _library.precision_number(precision)
        place = ffi.new('heddle_augment *')
        check(lib.heddle_augment_parse(path_bytes(augment), place))
        options.augment = place[0]
    if epochs is not None:
        options.epochs = epochs
    options.deterministic, options.save_every = deterministic, save_every
    options.resume, options.overwrite = resume, overwrite
    if resume and data is None:
        last = pathlib.Path(str(folder)) / LAST
        data, images = _dataset_name(last), trained_on(last, 'train', data_folder)
    else:
        images = dataset_of(default_dataset(data_folder) if data is None else data, 'train', folder=data_folder,
                            classes=classes)
    tests = _test_images(data if data is not None else images.name, test, images, data_folder)
    shape = (images._c.channels, images._c.height, images._c.width)
    network = (Model.from_checkpoint(pathlib.Path(str(folder)) / LAST) if resume
               else model_of(model, shape, images._c.classes))
    base = pathlib.Path('runs') / f'{_stem(images)}-{network.name}'
    where = pathlib.Path(folder) if folder is not None else base
    taken = None if folder is not None or overwrite else _take_folder(base)
    try:
        return _run(device_of(device, threads), network, images, tests, options, taken or where, tensorboard, init,
                    _Listener(progress, until))
    finally:
        if taken:
            _drop_empty(taken)


def _stem(images: Dataset) -> str:
    """ "synth" for synth:count=64, and a folder's last part."""
    spec = text(images._c.spec)
    return pathlib.Path(spec).name or 'data' if '/' in spec else images.name


def _test_images(data: Any, test: Any, images: Dataset, folder: Any) -> Optional[Dataset]:
    if test is not None:
        return dataset_of(test, 'test', folder=folder, classes=images.classes)
    return dataset_of(data, 'test', folder=folder) if isinstance(data, (str, os.PathLike)) else None


def _resumed_options(folder: Optional[PathLike]) -> Any:
    if folder is None:
        raise Invalid('resume=True needs folder=, the folder of the run')
    options = ffi.new('heddle_train_options *')
    check(lib.heddle_train_options_from(path_bytes(pathlib.Path(folder) / LAST), options, ffi.NULL, 0))
    return options[0]


def _dataset_name(checkpoint: pathlib.Path) -> str:
    options, name = ffi.new('heddle_train_options *'), ffi.new('char[]', 4096)
    check(lib.heddle_train_options_from(path_bytes(checkpoint), options, name, 4096))
    return text(name)


def trained_on(checkpoint: pathlib.Path, split: str, folder: Optional[PathLike] = None) -> Dataset:
    """The dataset that a checkpoint names. Arrays are not saved with it."""
    name = _dataset_name(checkpoint)
    try:
        return dataset_of(name, split, folder=folder)
    except NotFound as error:
        raise NotFound(f'{checkpoint} was trained on {name!r}, which cannot be opened: {error}; give the images as data') \
            from None


def _run(device: Device, model: Model, images: Dataset, tests: Optional[Dataset], options: Any, folder: pathlib.Path,
         tensorboard: Optional[PathLike], init: Optional[PathLike], listener: _Listener) -> Result:
    where = ffi.new('char[]', path_bytes(folder))
    events = ffi.NULL if tensorboard is None else ffi.new('char[]', path_bytes(tensorboard))
    weights = ffi.NULL if init is None else ffi.new('char[]', path_bytes(init))
    options.folder, options.tensorboard, options.init = where, events, weights
    options.listener, options.stop = listener.callback, listener.stop
    given, reached = ffi.new('heddle_train_options *', options), ffi.new('heddle_train_result *')
    status = lib.heddle_train(device._c, model._c, images._c, tests._c if tests else ffi.NULL, given, reached)
    stopped = status == lib.HEDDLE_INTERRUPTED
    if not stopped:
        check(status)
    result = Result(*(getattr(reached, field.name) for field in dataclasses.fields(Result)[:-1]), folder)  # type: ignore
    if isinstance(listener.error, KeyboardInterrupt):
        raise Interrupted(f'stopped and saved; continue with heddle.train(folder={str(folder)!r}, resume=True)',
                          result) from None
    if listener.error:
        raise listener.error
    return result


def runs(folder: PathLike = 'runs') -> Iterator[Curve]:
    """The curves of all runs in a folder, the oldest first."""
    found = sorted(pathlib.Path(folder).glob(f'*/{CURVE}'), key=lambda path: path.stat().st_mtime)
    return iter([Curve(path.parent) for path in found])
