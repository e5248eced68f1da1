"""Loading, predicting and evaluating: arrays of every kind, damaged files, threads, memory."""
import gc
import os
import subprocess
import sys
import textwrap
import threading

import numpy
import pytest

import heddle
from conftest import DEVICE, SMALL


class OnlyDlpack:
    """An array as other libraries have it: with nothing but the DLPack protocol."""

    def __init__(self, array, device=1):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        if self.device != 1:
            raise BufferError('not in CPU memory')
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return (self.device, 0)


def test_predictions_are_probabilities_of_what_evaluate_counts(network, digits):
    probabilities = network.predict(digits.images)
    assert probabilities.shape == (40, 10) and probabilities.dtype == numpy.float32
    assert numpy.allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    evaluation = network.evaluate()
    assert evaluation.count == 40 and evaluation.accuracy == evaluation.correct / 40
    assert (probabilities.argmax(axis=1) == digits.labels).sum() == evaluation.correct == evaluation.confusion.trace()
    assert evaluation.confusion.sum() == 40 and evaluation.classes == [str(i) for i in range(10)]
    again = network.evaluate((digits.images, digits.labels))
    assert again.correct == evaluation.correct and again.loss == evaluation.loss
    assert 'accuracy' in repr(evaluation) and '<table>' in evaluation._repr_html_()


def test_bytes_floats_dlpack_and_odd_layouts_give_the_same(network, digits):
    images = digits.images.copy()
    expected = network.predict(images)
    floats = (images / 255).astype(numpy.float32)
    kinds = [floats, floats.astype(numpy.float64), images[:, 0], OnlyDlpack(images), OnlyDlpack(floats), floats.tolist(),
             numpy.asfortranarray(floats), numpy.repeat(images, 2, axis=0)[::2], images[::-1][::-1]]
    for kind in kinds:
        assert numpy.allclose(network.predict(kind), expected, atol=1e-5)
    one = network.predict(images[3])
    assert one.shape == (10,) and numpy.allclose(one, expected[3], atol=1e-5)
    assert numpy.allclose(network.predict(images[3, 0]), one)
    assert network.predict(images[:0]).shape == (0, 10)
    readonly = images.copy()
    readonly.flags.writeable = False
    assert numpy.array_equal(network.predict(readonly), expected)


def test_contiguous_arrays_are_not_copied(digits):
    from heddle._arrays import to_numpy, to_pixels
    images = digits.images.copy()
    floats = numpy.zeros((2, 1, 4, 4), numpy.float32)
    for array in (images, floats):
        assert numpy.shares_memory(to_pixels(array), array)
        assert numpy.shares_memory(to_numpy(OnlyDlpack(array), 'images'), array)
    assert numpy.shares_memory(heddle.Dataset.from_arrays(images, digits.labels.copy()).images, images)


@pytest.mark.parametrize('images, message', [
    (numpy.zeros((2, 3, 28, 28), numpy.uint8), '1 × 28 × 28'),
    (numpy.zeros((2, 1, 27, 28), numpy.uint8), '1 × 28 × 28'),
    (numpy.zeros((28,), numpy.uint8), 'shape'),
    (numpy.zeros((2, 1, 28, 28), numpy.int32), 'int32'),
    (numpy.zeros((2, 1, 28, 28), bool), 'bool'),
    (numpy.zeros((2, 1, 28, 28), complex), 'complex'),
    (numpy.full((2, 1, 28, 28), numpy.nan, numpy.float32), 'nan'),
    (numpy.full((2, 1, 28, 28), numpy.inf), 'inf'),
    (numpy.full((2, 1, 28, 28), 255.0), 'from 0 to 1'),
    (numpy.full((2, 1, 28, 28), -0.5), 'from 0 to 1'),
    ('pictures', 'not an array of numbers'),
    ([[1, 2], [3]], 'array'),
    (None, 'array'),
    (OnlyDlpack(numpy.zeros((2, 1, 28, 28), numpy.uint8), device=2), 'CPU memory'),
])
def test_images_that_do_not_fit_are_refused(network, images, message):
    with pytest.raises(heddle.Invalid, match=message):
        network.predict(images)


def test_files_that_are_no_checkpoints_are_refused(run, tmp_path):
    with pytest.raises(heddle.NotFound, match='no such checkpoint'):
        heddle.load('nosuch.safetensors')
    with pytest.raises(heddle.NotFound, match='not the folder of a run'):
        heddle.load(tmp_path)
    content = bytearray(run.checkpoint.read_bytes())
    content[-100] ^= 1
    (tmp_path / 'damaged.safetensors').write_bytes(content)
    with pytest.raises(heddle.Corrupt):
        heddle.load('damaged.safetensors')
    (tmp_path / 'short.safetensors').write_bytes(content[:1000])
    with pytest.raises(heddle.Corrupt):
        heddle.read_safetensors('short.safetensors')
    with pytest.raises(heddle.Invalid, match='choose from'):
        heddle.load(run.checkpoint, precision='fp64')
    with pytest.raises(heddle.Error):
        heddle.load(run.checkpoint, batch=0)


def test_model_and_parameters_are_those_of_the_checkpoint(network):
    assert network.model.name == 'mlp' and network.model.input == (1, 28, 28) and network.model.classes == 10
    trained = sum(array.size for name, array in network.parameters.items() if 'running' not in name)
    assert trained == network.model.parameter_count == sum(layer.parameters for layer in network.model.layers)
    first = network.parameters['linear1.weight']
    assert first.dtype == numpy.float32 and numpy.isfinite(first).all() and not first.flags.writeable
    assert heddle.Model(network.model.to_dict()).parameter_count == network.model.parameter_count
    assert set(heddle.model_names()) >= {'cnn', 'mlp', 'resnet'}


def test_a_parameter_outlives_its_network(run):
    network = heddle.load(run.checkpoint, device=DEVICE)
    weight = network.parameters['linear1.weight']
    total = weight.sum()
    network.close()
    del network
    gc.collect()
    assert weight.sum() == total
    images = heddle.Dataset.open(SMALL).images
    gc.collect()
    assert images.shape == (200, 1, 28, 28) and images.max() > 200


def test_a_closed_network_says_so(run, digits):
    network = heddle.load(run.checkpoint, device=DEVICE)
    network.close()
    network.close()
    with pytest.raises(heddle.Invalid, match='closed'):
        network.predict(digits.images)


def test_int8_needs_calibration(run, digits):
    network = heddle.load(run.checkpoint, device=DEVICE, precision='int8')
    with pytest.raises(heddle.Error, match=r'call network\.calibrate\(\) first'):
        network.predict(digits.images)
    assert network.calibrate(count=64) in (True, False)
    assert network.predict(digits.images).shape == (40, 10)


def test_threads_share_a_network(network, digits):
    expected, wrong = network.predict(digits.images), []

    def work():
        for _ in range(10):
            if not numpy.array_equal(network.predict(digits.images), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(DEVICE != 'cpu', reason='a forked process cannot use CUDA at all')
def test_a_forked_process_is_told_to_open_its_own(run):
    program = textwrap.dedent(f'''
        import gc, os, signal, heddle
        images = heddle.Dataset.open('synth:count=200', 'test').images
        network, device = heddle.load({str(run.checkpoint)!r}, device='cpu'), heddle.Device('cpu')
        tensor = heddle.Tensor([[1.0, 2.0]], True) * 2
        expected = network.predict(images)
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # a call that waits for threads of the parent
            for call in (lambda: network.predict(images), lambda: network.evaluate(), lambda: tensor * tensor,
                         lambda: tensor.numpy(), lambda: heddle.Context(device)):
                try:
                    call()
                    os._exit(3)
                except heddle.Invalid as error:
                    if 'forked' not in str(error):
                        os._exit(4)
            own = heddle.load({str(run.checkpoint)!r}, device='cpu')
            same = (own.predict(images) == expected).all() and (heddle.Tensor([1.0]) * 2).item() == 2
            del network, tensor, device, own
            gc.collect()
            os._exit(0 if same else 5)
        print(os.waitpid(child, 0)[1], (network.predict(images) == expected).all())
    ''')
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, env=os.environ)
    assert done.stdout == '0 True\n', done.stdout + done.stderr


def status_of_process(field):
    with open('/proc/self/status') as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field + ':'))


def test_opening_and_closing_leaves_nothing_behind(run, digits):
    def once():
        with heddle.load(run.checkpoint, device=DEVICE, threads=2, batch=8) as network:
            network.predict(digits.images[:8])
        heddle.Dataset.open(SMALL, 'test')
        heddle.Model('cnn', (1, 28, 28), 10)

    for _ in range(10):
        once()
    gc.collect()
    threads, memory = status_of_process('Threads'), status_of_process('VmRSS')
    for _ in range(30):
        once()
    gc.collect()
    assert status_of_process('Threads') == threads
    assert status_of_process('VmRSS') - memory < 8000  # kB; one network has 800 kB of parameters


def test_objects_may_go_in_any_order(run):
    """Devices, networks and tensors in cycles, at the end of the process and before."""
    program = textwrap.dedent(f'''
        import gc, heddle
        device = heddle.Device('cpu', 1)
        networks = [heddle.load({str(run.checkpoint)!r}, device=device) for _ in range(3)]
        context = heddle.Context(device)
        tensor = heddle.Tensor([1.0], True, context=context) * 2
        cycle = [device, networks[0], context, tensor]
        cycle.append(cycle)
        device.cycle, networks[0].cycle, tensor.cycle = cycle, cycle, cycle
        del device, tensor, context, cycle
        networks[0] = None
        gc.collect()
        networks[1].close()
        kept = networks[2]
        kept.me = kept
        print('done')
    ''')
    done = subprocess.run([sys.executable, '-X', 'dev', '-c', program], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0 and done.stdout == 'done\n', done.stderr
    assert 'rror' not in done.stderr, done.stderr
