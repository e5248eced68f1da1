#!/usr/bin/env python3
"""peers/model_file.py: that it reads a model file as heddle does, and refuses what makes no sense in one clear line.

    models.py HEDDLE
"""
import glob
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # nothing is left in the source tree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "peers"))
import model_file  # noqa: E402
from result_file import Trouble  # noqa: E402

HEDDLE = sys.argv[1]
CLASSES = {"type": "linear", "features": "classes"}


def parameters_of_heddle(path):
    """{name: shape} of the parameters of a training step on 28×28 images in gray."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "step.safetensors")
        subprocess.run([HEDDLE, "bench", "train", "--device", "cpu", "--kernels", "fused", "--data", "synth:count=16",
                        "--model", path, "--batch", "2", "--gradients", output], check=True, stdout=subprocess.DEVNULL)
        with open(output, "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    return {name.split("/", 1)[1]: tuple(one["shape"]) for name, one in header.items() if name.startswith("parameters/")}


def model(*layers, shape=(4, 9, 7)):
    return model_file.model_of({"layers": list(layers)}, "small.json", shape, 10)


class Files(unittest.TestCase):
    def test_parameters_are_called_and_shaped_as_heddle_has_them(self):
        compared = 0
        for path in glob.glob(os.path.join(model_file.MODELS, "*.json")):
            read = model_file.read(path, (1, 28, 28), 10)
            found = {one.name: one.shape for one in read.parameters() if one.trained}
            self.assertEqual(found, {name: shape for name, shape in parameters_of_heddle(path).items()
                                     if "running" not in name}, path)
            compared += 1
        self.assertGreaterEqual(compared, 6)

    def test_the_file_says_what_goes_in_unless_the_caller_does(self):
        self.assertEqual(model_file.read("vgg").input, (3, 32, 32))
        self.assertEqual(model_file.read("vgg", (1, 28, 28), 5).layers[-1].output, (5,))
        self.assertEqual(model_file.read("cnn").input, (1, 28, 28))

    def test_the_file_of_the_cnn_is_the_built_in_one(self):
        self.assertEqual(parameters_of_heddle(model_file.path_of("cnn")), parameters_of_heddle("cnn"))


class Layers(unittest.TestCase):
    def test_shapes_follow_from_the_settings(self):
        found = model({"type": "conv2d", "channels": 6, "stride": 2, "padding": 2, "dilation": 2},
                      {"type": "maxpool2d", "window": 3, "stride": 2, "padding": 1}, {"type": "globalavgpool"}, CLASSES)
        self.assertEqual([layer.output for layer in found.layers], [(6, 5, 4), (6, 3, 2), (6,), (10,)])

    def test_a_group_has_its_share_of_the_inputs(self):
        found = model({"type": "conv2d", "channels": 8, "groups": 4}, {"type": "flatten"}, CLASSES)
        self.assertEqual(found.parameters()[0].shape, (8, 1, 3, 3))

    def test_layers_inside_a_residual_have_its_name_before_theirs(self):
        same = {"type": "conv2d", "channels": 4, "padding": 1}
        found = model({"type": "residual", "layers": [same, {"type": "batchnorm2d"}, same], "projection": [same]},
                      {"type": "flatten"}, CLASSES)
        self.assertEqual([one.name for one in found.parameters() if one.name.endswith("weight")],
                         ["residual1.conv1.weight", "residual1.norm1.weight", "residual1.conv2.weight",
                          "residual1.projection.conv1.weight", "linear1.weight"])

    def test_what_makes_no_sense_is_one_clear_line(self):
        wide = {"type": "conv2d", "channels": 8, "padding": 1}
        for layers, words in (
                ([{"type": "rlu"}], "small.json, layer 1: there is no layer type 'rlu'; did you mean 'relu'?"),
                ([{"type": "relu", "x": 1}], "small.json, layer 1: relu has no setting 'x'"),
                ([{"type": "conv2d"}], "small.json, layer 1: 'channels' of conv2d is missing"),
                ([{"type": "flatten"}, wide], "small.json, layer 2: conv2d takes images, not 252"),
                ([CLASSES], "small.json, layer 1: linear takes features, not 4×9×7"),
                ([{"type": "conv2d", "channels": 6, "groups": 4}], "4 groups do not divide 4 input and 6 output"),
                ([{"type": "maxpool2d", "window": 12}], "a window of 12 does not fit into 9×7 pixels with padding 0"),
                ([{"type": "residual", "layers": [wide]}],
                 "residual: the layers give 8×9×7 and the input 4×9×7: a projection has to bring the input to that size"),
                ([{"type": "residual", "layers": [wide], "projection": [dict(wide, stride=2)]}],
                 "residual: the layers give 8×9×7 and the projection 8×5×4: make them equal"),
                ([wide, dict(wide, name="conv1")], "small.json, layer 2: another layer is called 'conv1' too"),
                ([{"type": "flatten"}], "small.json: the last layer must give 10 features, one per class")):
            with self.assertRaises(Trouble) as caught:
                model(*layers)
            self.assertIn(words, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))


if __name__ == "__main__":
    del sys.argv[1]
    unittest.main()
