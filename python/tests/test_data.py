"""Datasets by name and from arrays, devices and operators."""
import numpy
import pytest

import heddle


def test_a_named_dataset_has_images_labels_and_classes():
    data = heddle.Dataset.open('synth:count=50,seed=3', 'test')
    assert data.images.shape == (len(data), 1, 28, 28) and data.images.dtype == numpy.uint8
    assert data.labels.max() < 10 and len(data.classes) == 10 and data.split == 'test' and data.name == 'synth'
    with pytest.raises(ValueError):
        data.images[0] = 1


def test_arrays_are_checked():
    images, labels = numpy.zeros((4, 2, 3, 3), numpy.uint8), numpy.array([0, 1, 2, 1])
    data = heddle.Dataset.from_arrays(images, labels)
    assert data.classes == ['0', '1', '2'] and data.name == 'arrays'
    wrong = [
        (images, labels[:3], {}, 'one label per image'),
        (images, labels - 1, {}, 'from -1'),
        (images, labels * 200, {}, '400'),
        (images, labels / 2, {}, 'float64'),
        (images, labels, {'classes': 2}, 'not below the number of classes, 2'),
        (images, labels, {'classes': ['a', 'b']}, 'not below'),
        (images[:0], labels[:0], {}, '0 images'),
        (images[0, 0], labels, {}, 'shape'),
        (images.astype(numpy.int16), labels, {}, 'int16'),
        (images, labels, {'split': 'valid'}, 'choose from train, test'),
        (images, labels, {'classes': 'ab'}, 'give a list'),
    ]
    for pixels, numbers, options, message in wrong:
        with pytest.raises(heddle.Invalid, match=message):
            heddle.Dataset.from_arrays(pixels, numbers, **options)


def test_names_with_a_nul_are_refused():
    with pytest.raises(heddle.Invalid, match='NUL'):
        heddle.Dataset.open('syn\0th')
    with pytest.raises(heddle.Invalid, match='NUL'):
        heddle.Device('cpu\0x')
    with pytest.raises(heddle.Invalid, match='NUL'):
        heddle.Dataset.from_arrays(numpy.zeros((2, 4, 4), numpy.uint8), [0, 1], classes=['a\0b', 'c'])


def test_devices_say_why_they_are_missing():
    found = {device.device: device for device in heddle.devices()}
    assert found['cpu'].present and found['cpu'].processors > 0 and found['cpu'].properties
    for device in found.values():
        assert device.present or device.why
    with pytest.raises(heddle.Error, match='tpu'):
        heddle.Device('tpu')


def test_operators_have_their_rungs():
    matmul = heddle.ops()['matmul_forward']
    assert matmul.ladder == 'matmul' and matmul.operands == ['a', 'b', 'output'] and 'm' in matmul.fields
    assert matmul.rungs[0].name == 'cpu_naive' and matmul.rungs[0].tier == 'naive' and matmul.rungs[0].device == 'cpu'
