"""Training: by name, on arrays, resumed, interrupted, and what is refused."""
import inspect
import os
import signal
import threading

import numpy
import pytest

import heddle
from heddle._library import lib, text
from conftest import DEVICE, SMALL


def test_a_run_is_saved_with_its_curve_and_both_checkpoints(run):
    assert run.epochs == 2 and run.seconds > 0 and 0 < run.test_accuracy <= 1
    assert run.checkpoint == run.folder / 'best.safetensors' and run.checkpoint.exists()
    assert (run.folder / 'last.safetensors').exists()
    assert run.curve.state == 'complete' and run.curve.settings['model'] == 'mlp'
    assert [point['epoch'] for point in run.curve.tests] == [1, 2]
    assert run.curve.tests[-1]['accuracy'] == pytest.approx(run.test_accuracy)
    steps = [point['step'] for point in run.curve.steps]
    assert steps[-1] == 26  # 200 images in batches of 16, twice
    assert len(steps) == 26 or DEVICE != 'cpu'  # a GPU runs several steps at a time, and tells of the last
    assert [str(curve.folder) for curve in heddle.runs(run.folder.parent)] == [str(run.folder)]


def test_defaults_are_those_of_the_library():
    defaults, given = lib.heddle_train_defaults(), inspect.signature(heddle.train).parameters
    for name in ('batch', 'learning_rate', 'momentum', 'weight_decay', 'seed', 'deterministic', 'save_every'):
        assert getattr(defaults, name) == given[name].default, name
    assert text(lib.heddle_tier_names[defaults.kernels]) == given['kernels'].default
    assert ['sgd', 'momentum', 'adamw'][defaults.optimizer] == given['optimizer'].default
    assert ['constant', 'linear', 'cosine'][defaults.schedule] == given['schedule'].default
    assert text(lib.heddle_arithmetic_names[defaults.arithmetic]) == 'full' and given['precision'].default == 'fp32'


def test_progress_tells_every_step_in_order():
    events = []
    heddle.train('mlp', 'synth:count=64', epochs=1, batch=16, device='cpu', progress=events.append)
    kinds = [event.kind for event in events]
    assert kinds[0] == 'started' and kinds.count('step') == 4 and kinds.count('evaluated') == 1 and 'saved' in kinds
    steps = [event.images for event in events if event.kind == 'step']
    assert steps == [16, 32, 48, 64]
    saved = [event.path for event in events if event.kind == 'saved']
    assert all(path.name.endswith('.safetensors') for path in saved)


def test_without_a_folder_each_run_gets_its_own(tmp_path):
    first = heddle.train('mlp', 'synth:count=32', epochs=1, device=DEVICE)
    second = heddle.train('mlp', 'synth:count=32', epochs=1, device=DEVICE)
    assert str(first.folder) == 'runs/synth-mlp' and str(second.folder) == 'runs/synth-mlp-2'
    assert str(heddle.train('mlp', 'synth:count=32', epochs=1, device=DEVICE, overwrite=True).folder) == 'runs/synth-mlp'
    with pytest.raises(heddle.Invalid):
        heddle.train('mlp', 'synth:count=32', epochs=-1, device=DEVICE)
    assert sorted(os.listdir('runs')) == ['synth-mlp', 'synth-mlp-2']  # a run that fails leaves no folder


def test_training_on_arrays_is_training_on_the_same_dataset(run):
    images, test = heddle.Dataset.open(SMALL), heddle.Dataset.open(SMALL, 'test')
    same = heddle.train('mlp', (images.images, images.labels.astype(numpy.int64)), test=(test.images, test.labels), epochs=2,
                        folder='arrays', device=DEVICE, threads=1)
    assert same.test_accuracy == run.test_accuracy and same.train_loss == run.train_loss
    floats = heddle.train('mlp', (images.images / 255.0, images.labels), epochs=2, folder='floats', device=DEVICE, threads=1)
    assert floats.train_loss == run.train_loss
    assert numpy.isnan(floats.test_accuracy) and floats.checkpoint.name == 'last.safetensors'


def test_class_names_of_arrays_reach_the_network():
    images = numpy.zeros((8, 6, 6), numpy.uint8)
    images[::2] = 255
    labels = numpy.arange(8) % 2
    run = heddle.train({'name': 'tiny', 'layers': [{'type': 'flatten'}, {'type': 'linear', 'features': 'classes'}]},
                       (images, labels), classes=['light', 'dark'], epochs=60, batch=8, device=DEVICE)
    assert run.folder.name == 'arrays-tiny'
    network = heddle.load(run.folder, device=DEVICE)
    assert network.classes == ['light', 'dark'] and network.classify(images[:2]) == ['light', 'dark']
    assert network.classify(images[1]) == 'dark'


def test_until_stops_after_the_epoch_that_reaches_it():
    result = heddle.train('mlp', 'synth:count=64', epochs=50, until=0.0, device=DEVICE, folder='until')
    assert result.epochs == 1 and result.curve.state == 'complete'


def parameters(folder):
    arrays = heddle.read_safetensors(os.path.join(folder, 'last.safetensors'))
    return {name: array.copy() for name, array in arrays.items()}


def stop_at(step, what):
    """A progress callback that does something at a step."""
    seen = []

    def progress(event):
        seen.append(event.kind)
        if seen.count('step') == step and event.kind == 'step':
            what()
    return progress


def test_ctrl_c_saves_and_a_resumed_run_ends_with_the_same_bits(run):
    with pytest.raises(heddle.Interrupted, match='resume=True') as caught:
        heddle.train('mlp', SMALL, epochs=2, folder='stopped', device=DEVICE, threads=1,
                     progress=stop_at(2, lambda: os.kill(os.getpid(), signal.SIGINT)))
    assert isinstance(caught.value, KeyboardInterrupt) and caught.value.result.epochs == 0
    assert heddle.Curve('stopped').state == 'stopped'
    resumed = heddle.train(folder='stopped', resume=True, device=DEVICE, threads=1)
    assert resumed.epochs == 2 and resumed.test_accuracy == run.test_accuracy
    here, there = parameters('stopped'), parameters(run.folder)
    assert here.keys() == there.keys()
    assert all(numpy.array_equal(here[name], there[name]) for name in here)


def test_ctrl_c_is_heard_while_the_library_computes():
    started = threading.Event()
    main = threading.main_thread().ident

    def press():
        started.wait()
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(heddle.Interrupted):
        heddle.train('mlp', SMALL, epochs=100000, folder='long', device=DEVICE, progress=lambda event: started.set())
    thread.join()
    assert os.path.exists('long/last.safetensors')


def test_what_progress_raises_stops_the_run_and_is_raised_again():
    def fail():
        raise KeyError('mine')
    with pytest.raises(KeyError, match='mine'):
        heddle.train('mlp', SMALL, epochs=3, folder='failed', device=DEVICE, progress=stop_at(3, fail))
    assert os.path.exists('failed/last.safetensors')


def test_two_threads_train_at_once_and_get_what_one_gets(run):
    results = {}

    def work(name):
        results[name] = heddle.train('mlp', SMALL, epochs=2, folder=name, device=DEVICE, threads=1)

    threads = [threading.Thread(target=work, args=(name,)) for name in ('a', 'b')]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results['a'].test_accuracy == results['b'].test_accuracy == run.test_accuracy


@pytest.mark.parametrize('arguments, error, message', [
    (dict(model='nosuch', data=SMALL), heddle.NotFound, 'nosuch'),
    (dict(model={'layers': []}, data=SMALL), heddle.Error, 'layers'),
    (dict(model={'layers': [{'type': 'conv3d'}]}, data=SMALL), heddle.Error, 'conv3d'),
    (dict(model={'layers': [{1, 2}]}, data=SMALL), heddle.Invalid, 'not JSON'),
    (dict(model=7, data=SMALL), heddle.Invalid, 'type int'),
    (dict(data='nosuch'), heddle.NotFound, 'unknown dataset'),
    (dict(data='synth:count=0'), heddle.Invalid, 'count'),
    (dict(data=3), heddle.Invalid, 'type int'),
    (dict(data=SMALL, precision='fp8'), heddle.Invalid, 'choose from fp32, tf32x3'),
    (dict(data=SMALL, kernels='fast'), heddle.Invalid, 'choose from naive, tuned, vendor, fused'),
    (dict(data=SMALL, optimizer='lion'), heddle.Invalid, 'choose from sgd'),
    (dict(data=SMALL, augment='rotate:3'), heddle.Invalid, 'rotate'),
    (dict(data=SMALL, device='tpu'), heddle.Error, 'tpu'),
    (dict(data=SMALL, resume=True), heddle.Invalid, 'needs folder='),
    (dict(resume=True, folder='nosuch'), heddle.Error, 'nosuch'),
    (dict(data=SMALL, learning_rate=float('nan')), heddle.Invalid, 'rate'),
    (dict(data=SMALL, until=98), heddle.Invalid, '99 % is 0.99'),
    (dict(data=SMALL, until=float('nan')), heddle.Invalid, 'fraction'),
    (dict(data=SMALL, progress=3), heddle.Invalid, 'function'),
    (dict(data=SMALL, precision='int8'), heddle.Invalid, 'predicting'),
    (dict(model={'layers': [{'type': 'linear', 'features': float('nan')}]}, data=SMALL), heddle.Invalid, 'not JSON'),
])
def test_what_makes_no_sense_is_refused_with_what_to_do(arguments, error, message):
    with pytest.raises(error, match=message):
        heddle.train(**{'model': 'mlp', 'device': 'cpu', **arguments})
    assert not os.path.exists('runs') or not os.listdir('runs')


def test_a_result_reads_as_a_sentence(run, tmp_path):
    assert repr(run).startswith('heddle.Result(2 epochs in ') and ', test accuracy ' in repr(run)
    images = numpy.zeros((8, 1, 28, 28), numpy.uint8)
    untested = heddle.train('mlp', (images, numpy.arange(8) % 2), classes=2, epochs=1, device=DEVICE, folder=tmp_path / 'x')
    assert repr(untested).startswith('heddle.Result(1 epoch in ') and ', not tested, ' in repr(untested)
    assert ', not tested, ' in repr(untested.curve)


def test_a_folder_with_a_run_is_not_overwritten(run):
    with pytest.raises(heddle.Invalid, match=r'resume it \(resume=True\), choose another folder \(folder=\) or .*overwrite=True'):
        heddle.train('mlp', SMALL, epochs=1, folder=run.folder, device=DEVICE)
    assert issubclass(heddle.Invalid, ValueError) and issubclass(heddle.NotFound, LookupError)


def test_a_run_that_diverges_says_so():
    with pytest.raises(heddle.Diverged, match='learning rate|lr'):
        heddle.train('mlp', SMALL, epochs=3, learning_rate=1e6, schedule='constant', device=DEVICE, folder='far')
    assert heddle.Curve('far').state == 'diverged'


def test_a_damaged_curve_is_read_as_far_as_it_goes(tmp_path):
    (tmp_path / 'curve.jsonl').write_text('{"event":"started","step":0,"settings":{"model":"x"}}\nrubbish\n[1]\n'
                                          '{"event":"step","step":1,"loss":2,"accuracy":0.5}\n{"event":"evaluated","st')
    curve = heddle.Curve(tmp_path)
    assert len(curve.steps) == 1 and curve.tests == [] and curve.state == 'running'
    assert '<svg' in curve._repr_svg_()
    with pytest.raises(heddle.NotFound, match='curve.jsonl'):
        heddle.Curve(tmp_path / 'nosuch')


def test_a_run_starts_from_the_weights_of_a_file(run):
    heddle.train('mlp', SMALL, epochs=0, device=DEVICE, folder='from', init=run.checkpoint)
    start, weights = heddle.read_safetensors('from/last.safetensors'), heddle.read_safetensors(run.checkpoint)
    assert numpy.array_equal(start['linear1.weight'], weights['linear1.weight'])
    with pytest.raises(heddle.NotFound, match='nosuch'):
        heddle.train('mlp', SMALL, epochs=1, device=DEVICE, folder='other', init='nosuch')
    with pytest.raises(heddle.Invalid, match='one of them'):
        heddle.train(folder='from', resume=True, init=run.checkpoint)


def test_a_run_with_a_damaged_curve_does_not_hide_the_others(run, tmp_path):
    (tmp_path / 'all' / 'a').mkdir(parents=True)
    (tmp_path / 'all' / 'a' / 'curve.jsonl').write_bytes(
        b'\xff\xfe\n{"event":"step"}\n{"event":"step","step":null,"loss":1}\n{"event":"evaluated","accuracy":"x","step":1}\n')
    (tmp_path / 'all' / 'b').symlink_to(run.folder)
    curves = list(heddle.runs(tmp_path / 'all'))
    assert len(curves) == 2
    for curve in curves:
        assert repr(curve) and '<svg' in curve._repr_svg_()


def test_a_folder_that_cannot_be_made_is_an_error_of_heddle(tmp_path):
    (tmp_path / 'runs').write_text('a file')
    with pytest.raises(heddle.FileError, match='runs: cannot create this folder.*folder='):
        heddle.train('mlp', SMALL, epochs=1, device='cpu')


def test_a_run_on_arrays_says_that_it_needs_them_again():
    images, labels = numpy.zeros((8, 4, 4), numpy.uint8), numpy.arange(8) % 2
    model = {'name': 'tiny', 'layers': [{'type': 'flatten'}, {'type': 'linear', 'features': 'classes'}]}
    heddle.train(model, (images, labels), epochs=1, device='cpu', folder='arrays-run')
    for again in (lambda: heddle.train(folder='arrays-run', resume=True, epochs=2, device='cpu'),
                  lambda: heddle.load('arrays-run', device='cpu').evaluate()):
        with pytest.raises(heddle.NotFound, match="trained on 'arrays'.*give the images as data"):
            again()
    assert heddle.train(data=(images, labels), folder='arrays-run', resume=True, epochs=2, device='cpu').epochs == 2
