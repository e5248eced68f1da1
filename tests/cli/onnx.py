"""ONNX files at the command line: there and back, what is missing or wrong, and files that are damaged in twenty and more
ways. Each gives one line that names the file, and nothing is written.

    onnx.py HEDDLE"""

import os
import struct
import unittest

from command import Command, write_png

# --- protobuf, as far as it takes to damage a file ---------------------------------------------------------------------


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data, at):
    number, shift = 0, 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


def fields_of(data):
    """A message as a list of [field, value]: a number, or bytes."""
    fields, at = [], 0
    while at < len(data):
        key, at = read_varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = read_varint(data, at)
        elif kind == 2:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = 4 if kind == 5 else 8
            value, at = (kind, data[at:at + size]), at + size
        fields.append([key >> 3, value])
    return fields


def message(fields):
    out = bytearray()
    for field, value in fields:
        if isinstance(value, int):
            out += varint(field << 3) + varint(value)
        elif isinstance(value, tuple):
            out += varint(field << 3 | value[0]) + value[1]
        else:
            out += varint(field << 3 | 2) + varint(len(value)) + value
    return bytes(out)


# Fields of the format, by what they are here.
GRAPH, OPSET, METADATA, FUNCTION = 7, 8, 14, 25  # of a model
NODE, INITIALISER, SPARSE, INPUT, OUTPUT = 1, 5, 15, 11, 12  # of a graph
DIMS, TYPE, TENSOR_NAME, RAW, EXTERNAL, LOCATION = 1, 2, 8, 9, 13, 14  # of a tensor
READS, WRITES, OP, ATTRIBUTE, DOMAIN = 1, 2, 4, 5, 7  # of a node


class Model:
    """An ONNX file that can be changed: what `edit` is given is a list of fields, or a list of such lists."""

    def __init__(self, data):
        self.fields = fields_of(data)

    def graph(self, edit):
        for field in self.fields:
            if field[0] == GRAPH:
                graph = fields_of(field[1])
                edit(graph)
                field[1] = message(graph)
        return self

    def part(self, kind, index, edit):
        def inside(graph):
            found = [field for field in graph if field[0] == kind][index]
            fields = fields_of(found[1])
            edit(fields)
            found[1] = message(fields)
        return self.graph(inside)

    def bytes(self):
        return message(self.fields)


def put(kind, value):
    """Replaces the first field of a kind."""
    def edit(fields):
        next(field for field in fields if field[0] == kind)[1] = value
    return edit


def drop(kind):
    def edit(fields):
        fields[:] = [field for field in fields if field[0] != kind]
    return edit


def add(kind, value):
    return lambda fields: fields.append([kind, value])


def reverse_nodes(graph):
    nodes = [field for field in graph if field[0] == NODE]
    graph[:] = nodes[::-1] + [field for field in graph if field[0] != NODE]


def twice(kind):
    def edit(fields):
        fields.append(next(field for field in fields if field[0] == kind))
    return edit


def model(edit):
    """A change of the file's messages, as one of its bytes."""
    return lambda data: edit(Model(data)).bytes()


def drop_model(kind):
    def edit(found):
        found.fields = [field for field in found.fields if field[0] != kind]
        return found
    return edit


def add_model(kind, value):
    def edit(found):
        found.fields.append([kind, value])
        return found
    return edit


def swap_sizes(fields):
    sizes = [field for field in fields if field[0] == DIMS]
    sizes[0][1], sizes[1][1] = sizes[1][1], sizes[0][1]


NAN = struct.pack("<f", float("nan"))
IF_NODE = message([[READS, b"images"], [WRITES, b"z"], [OP, b"If"], [ATTRIBUTE, message([[1, b"then_branch"], [6, b""]])]])

# What is done to the file, the exit code and a part of the message.
DAMAGES = {
    "cut in half": (lambda data: data[:len(data) // 2], 1, "not an ONNX file, or it is damaged"),
    "cut by a byte": (lambda data: data[:-1], 1, "not an ONNX file, or it is damaged"),
    "empty": (lambda data: b"", 1, "no graph"),
    "a text": (lambda data: b"This is not a network.\n", 1, "not an ONNX file, or it is damaged"),
    "zeros": (lambda data: bytes(1000), 1, "not an ONNX file, or it is damaged"),
    "no graph": (model(drop_model(GRAPH)), 1, "no graph"),
    "no opset": (model(drop_model(OPSET)), 1, "opset 0"),
    "an old opset": (model(lambda m: add_model(OPSET, message([[2, 6]]))(drop_model(OPSET)(m))), 1, "opset 6"),
    "functions": (model(add_model(FUNCTION, b"")), 1, "functions of its own"),
    "a sparse tensor": (model(lambda m: m.graph(add(SPARSE, b""))), 1, "sparse"),
    "a missing initialiser": (model(lambda m: m.graph(drop(INITIALISER))), 1, "reads 'conv1.weight', which nothing"),
    "two of one name": (model(lambda m: m.graph(twice(INITIALISER))), 1, "two values are called 'conv1.weight'"),
    "two that are shown as one": (
        model(lambda m: m.graph(lambda g: g.extend([INITIALISER, message([[DIMS, 1], [TYPE, 1], [TENSOR_NAME, name], [RAW, NAN]])]
                                                   for name in (b"a\x01", b"a\x02")))), 1, "two values are called 'a?'"),
    "a cycle": (model(lambda m: m.graph(reverse_nodes)), 1, "nothing before it computes"),
    "a node twice": (model(lambda m: m.graph(twice(NODE))), 1, "two values are called"),
    "no input": (model(lambda m: m.graph(drop(INPUT))), 1, "it has no input"),
    "a second input": (model(lambda m: m.graph(add(INPUT, message([[1, b"mask"], [2, message([[1, message([[1, 1]])]])]])))), 1,
                       "second input, 'mask'"),
    "no output": (model(lambda m: m.graph(drop(OUTPUT))), 1, "0 outputs"),
    "an unknown output": (model(lambda m: m.part(OUTPUT, 0, put(1, b"nothing"))), 1, "nothing computes its output"),
    "an input of integers": (model(lambda m: m.part(INPUT, 0, put(2, message([[1, message([[1, 7]])]])))), 1, "not float32"),
    "a short tensor": (model(lambda m: m.part(INITIALISER, 0, put(RAW, b"1234"))), 1, "has 4 bytes, its shape says"),
    "a negative size": (model(lambda m: m.part(INITIALISER, 0, put(DIMS, -5))), 1, "has a size of -5"),
    "a huge size": (model(lambda m: m.part(INITIALISER, 0, put(DIMS, 1 << 62))), 1, "'conv1.weight'"),
    "sizes that overflow": (model(lambda m: m.part(INITIALISER, 0, lambda f: f.extend([[DIMS, 1 << 32]] * 2))), 1,
                            "has a size of"),
    "nine dimensions": (model(lambda m: m.part(INITIALISER, 0, lambda f: f.extend([[DIMS, 1]] * 5))), 1, "9 dimensions"),
    "a wrong type": (model(lambda m: m.part(INITIALISER, 0, put(TYPE, 7))), 1, "bytes, its shape says"),
    "an unknown type": (model(lambda m: m.part(INITIALISER, 0, put(TYPE, 99))), 1, "type 99"),
    "another file": (model(lambda m: m.part(INITIALISER, 0, add(LOCATION, 1))), 1, "in another file (external data)"),
    "a nameless tensor": (model(lambda m: m.part(INITIALISER, 0, drop(TENSOR_NAME))), 1, "has no name"),
    "numbers that are none": (model(lambda m: m.part(INITIALISER, 0, lambda f: put(RAW, NAN * (len(f[-1][1]) // 4))(f))), 1,
                              "not finite"),
    "a node without operator": (model(lambda m: m.part(NODE, 0, drop(OP))), 1, "has no operator"),
    "a strange operator": (model(lambda m: m.part(NODE, 2, put(OP, b"Frobnicate\n\x1b[2J"))), 1, "Frobnicate"),
    "a strange domain": (model(lambda m: m.part(NODE, 2, add(DOMAIN, b"com.example"))), 1, "com.example"),
    "an attribute of another type": (model(lambda m: m.part(NODE, 0, put(ATTRIBUTE, message([[1, b"strides"], [20, 1]])))), 1,
                                     "'strides' has another type"),
    "a filter for other channels": (model(lambda m: m.part(INITIALISER, 0, swap_sizes)), 1, "damaged"),
    "control flow": (model(lambda m: m.graph(lambda g: g.insert(0, [NODE, IF_NODE]))), 1, "If has a graph inside it"),
    "far too many nodes": (model(lambda m: m.graph(lambda g: g.extend([[NODE, b""]] * 20000))), 1, "20"),
    "a bomb": (lambda data: data + message([[GRAPH, message([[NODE, b""]] * 1000000)]]), 1, "in memory"),
}


class Onnx(Command):
    def setUp(self):
        super().setUp()
        self.model = os.path.join(self.home, "net.json")
        with open(self.model, "w") as file:
            file.write('{"name": "net", "layers": [{"type": "conv2d", "channels": 4, "kernel": 2}, {"type": "batchnorm2d"},'
                       ' {"type": "relu"}, {"type": "flatten"}, {"type": "linear", "features": "classes"}]}')
        self.images = self.folder_of_images()
        self.run_folder = os.path.join(self.home, "run")
        self.run_heddle("train", "--data", self.images, "--model", self.model, "--epochs", "1", "--out", self.run_folder,
                        "--device", "cpu", "--quiet")
        self.file = os.path.join(self.home, "net.onnx")
        self.run_heddle("export", self.run_folder, "--onnx", self.file)

    def path(self, name):
        return os.path.join(self.home, name)

    def test_a_network_goes_there_and_back(self):
        back = self.path("back.safetensors")
        self.assertIn("5 layers", self.run_heddle("import", self.file, "--out", back).stdout)
        with open(os.path.join(self.run_folder, "best.safetensors"), "rb") as left, open(back, "rb") as right:
            self.assertEqual(left.read(), right.read())
        self.run_heddle("eval", back, "--device", "cpu")

    def test_a_file_without_notes_needs_data_to_be_evaluated(self):
        self.write(self.file, model(drop_model(METADATA))(self.read()))
        back = self.path("back.safetensors")
        self.assertIn("--data NAME", self.run_heddle("import", self.file, "--out", back).stdout)
        self.assertIn("--data", self.run_heddle("eval", back, "--device", "cpu", code=2).stderr)
        result = self.run_heddle("eval", back, "--data", self.images, "--device", "cpu", "--json").stdout
        trained = self.run_heddle("eval", self.run_folder, "--data", self.images, "--device", "cpu", "--json").stdout
        self.assertEqual(result.split('"loss"')[1].split(",")[0], trained.split('"loss"')[1].split(",")[0])

    def test_what_is_missing_or_wrong_is_said(self):
        self.assert_refused(["export", self.run_folder], "heddle: export needs the file to write: --onnx FILE")
        self.assert_refused(["import", self.file], "heddle: import needs the checkpoint to write: --out FILE.safetensors")
        self.assertIn("import it first", self.run_heddle("eval", self.file, code=2).stderr)
        self.assertIn("3x32x32",
                      self.run_heddle("import", self.file, "--out", self.path("x"), "--input", "28", code=2).stderr)
        self.assertIn("--resume continues", self.run_heddle("train", "--out", self.run_folder, "--resume", "--init", self.file,
                                                            code=2).stderr)

    def test_the_file_that_is_read_is_not_written(self):
        good, checkpoint = self.read(), os.path.join(self.run_folder, "best.safetensors")
        link = self.path("link.onnx")
        os.link(self.file, link)
        for out in (self.file, link):
            self.assertIn("is the ONNX file itself", self.run_heddle("import", self.file, "--out", out, code=2).stderr)
        self.assertEqual(self.read(), good)
        self.assertIn("is the checkpoint itself", self.run_heddle("export", self.run_folder, "--onnx", checkpoint, code=2).stderr)
        self.run_heddle("eval", checkpoint, "--device", "cpu")

    def test_an_export_replaces_nothing_but_an_earlier_export(self):
        curve = os.path.join(self.run_folder, "curve.jsonl")
        with open(curve, "rb") as file:
            before = file.read()
        self.assertIn("would overwrite a file that heddle did not export",
                      self.run_heddle("export", self.run_folder, "--onnx", curve, code=2).stderr)
        with open(curve, "rb") as file:
            self.assertEqual(file.read(), before)
        self.run_heddle("export", self.run_folder, "--onnx", self.file)

    def test_int8_is_calibrated_with_the_dataset_that_is_named(self):
        for words in (["--precision", "int8"], []):
            said = self.run_heddle("export", self.run_folder, "--onnx", self.path("q.onnx"), "--data", "nosuch", *words, code=2)
            self.assertIn("nosuch" if words else "goes with --precision int8", said.stderr)
        self.run_heddle("export", self.run_folder, "--onnx", self.path("q.onnx"), "--data", self.images, "--precision", "int8")

    def test_int8_says_which_option_names_images_to_calibrate_with(self):
        moved, picture = self.path("moved"), self.path("x.png")
        write_png(picture, 3, [[10, 200, 30], [90, 90, 0]])
        os.rename(self.images, moved)
        gone = f"int8 needs training images to calibrate with: {self.images}: no such folder; name a dataset with"
        predict, int8 = ["predict", self.run_folder, picture, "--device", "cpu"], ["--precision", "int8"]
        self.assertIn(f"{gone} --calibrate-with", self.run_heddle(*predict, *int8, code=2).stderr)
        self.assertIn(f"{gone} --data", self.run_heddle("export", self.run_folder, "--onnx", self.path("q.onnx"), *int8,
                                                        code=2).stderr)
        self.assertIn("--calibrate-with names", self.run_heddle(*predict, *int8, "--data", moved, code=2).stderr)
        self.assertIn("goes with --precision int8", self.run_heddle(*predict, "--calibrate-with", moved, code=2).stderr)
        self.run_heddle(*predict, *int8, "--calibrate-with", moved)
        said = self.run_heddle("eval", self.run_folder, "--data", moved, "--device", "cpu", *int8).stderr
        self.assertIn(f"calibrated with the training images of {moved}", said)

    def test_classes_that_the_file_does_not_name_are_named_at_import(self):
        folder, out = self.path("shapes"), self.path("new/net.safetensors")
        for name in ("bar", "circle", "dot", "square"):
            os.makedirs(f"{folder}/{name}")
            for i in range(2):
                write_png(f"{folder}/{name}/{i}.png", 3, [[i, 9, 40], [80, 7, i]])
        self.write(self.file, model(drop_model(METADATA))(self.read()))
        self.run_heddle("import", self.file, "--out", out)
        evaluate = ["eval", out, "--data", folder, "--device", "cpu"]
        self.assertIn("heddle import FILE.onnx --out FILE.safetensors --classes NAME,NAME,...",
                      self.run_heddle(*evaluate, code=2).stderr)
        for classes, why in (("bar,dot", "has 4 classes, but --classes names 2"), ("a,b,a,c", "names a twice"),
                             ("a,,b,c", "name 2 is empty")):
            self.assertIn(why, self.run_heddle("import", self.file, "--out", out, "--classes", classes, code=2).stderr)
        self.run_heddle("import", self.file, "--out", out, "--classes", "bar,circle,dot,square")
        self.assertIn("circle", self.run_heddle(*evaluate).stdout)

    def test_a_size_that_is_not_the_files_is_refused(self):
        for edit in (lambda data: data, model(drop_model(METADATA))):
            self.write(self.path("any.onnx"), edit(self.read()))
            said = self.run_heddle("import", self.path("any.onnx"), "--input", "3x64x64", "--out", self.path("no/x"), code=2)
            self.assertIn("its images are 1×2×3, not 3×64×64", said.stderr)
            self.assertFalse(os.path.exists(self.path("no")))

    def read(self):
        with open(self.file, "rb") as file:
            return file.read()

    def write(self, path, data):
        with open(path, "wb") as file:
            file.write(data)

    def test_damaged_files_give_one_clear_line(self):
        good, path, out = self.read(), self.path("damaged.onnx"), self.path("out.safetensors")
        self.assertGreaterEqual(len(DAMAGES), 20)
        for name, (damage, code, part) in DAMAGES.items():
            with self.subTest(name):
                damaged = damage(good)
                self.assertNotEqual(damaged, good)
                self.write(path, damaged)
                result = self.run_heddle("import", path, "--out", out, code=code)
                self.assertEqual(result.stdout, "")
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertTrue(result.stderr.startswith("heddle: " + path), result.stderr)
                self.assertIn(part, result.stderr)
                self.assertTrue(result.stderr.isprintable() or result.stderr[:-1].isprintable(), result.stderr)
                self.assertFalse(os.path.exists(out))


if __name__ == "__main__":
    unittest.main()
