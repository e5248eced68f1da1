#!/usr/bin/env python3
"""The linker refuses an arrow up between the simulator's layers.

    layers.py COMPILER FOLDER LAYER...      FOLDER: libsim_up_to_LAYER.so of each layer; layers lowest first

For each pair of layers a file is planted in the one that calls a function of the other: downwards it must link, upwards
the linker must refuse it and name the function. Weak references, which no linker refuses, are looked for too.
"""
import os
import subprocess
import sys
import tempfile
import unittest

COMPILER, FOLDER, LAYERS = None, None, []


def library(layer):
    return os.path.join(FOLDER, "libsim_up_to_%s.so" % layer)


def symbols(layer, *options):
    """{name: type} of a layer's shared object, as nm tells."""
    listed = subprocess.run(["nm", "-D", "-P", *options, library(layer)], check=True, stdout=subprocess.PIPE, text=True)
    return {line.split()[0]: line.split()[1] for line in listed.stdout.splitlines()}


def own_symbols():
    """[(layer, what it adds to the layers below)]"""
    below, own = set(), []
    for layer in LAYERS:
        defined = set(symbols(layer, "--defined-only"))
        own.append((layer, defined - below))
        below |= defined
    return own


def plant(layer, function):
    """What the linker says of a file in `layer` that calls `function`; empty: it links."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "planted.c")
        with open(source, "w") as out:
            out.write("int %s();\nint planted(void)\n{\n    return %s();\n}\n" % (function, function))
        done = subprocess.run([COMPILER, "-w", "-fPIC", "-shared", "-Wl,-z,defs", source, library(layer), "-o",
                               os.path.join(folder, "planted.so")], stderr=subprocess.PIPE, text=True)
        return "" if done.returncode == 0 else done.stderr


class Layers(unittest.TestCase):
    def function_of(self, own):
        functions = sorted(name for name in own if name.startswith("sim_"))
        self.assertTrue(functions)
        return functions[0]

    def test_the_linker_refuses_an_arrow_up(self):
        own = own_symbols()
        for at, (layer, _) in enumerate(own):
            for upper, added in own[at + 1:]:
                function = self.function_of(added)
                with self.subTest("%s calls %s of %s" % (layer, function, upper)):
                    self.assertIn("undefined reference to `%s'" % function, plant(layer, function))

    def test_an_arrow_down_links(self):
        own = own_symbols()
        for at, (layer, _) in enumerate(own):
            for lower, added in own[:at]:
                function = self.function_of(added)
                with self.subTest("%s calls %s of %s" % (layer, function, lower)):
                    self.assertEqual("", plant(layer, function))

    def test_no_weak_reference_points_up(self):
        own = own_symbols()
        for at, (layer, _) in enumerate(own):
            weak = {name for name, kind in symbols(layer, "--undefined-only").items() if kind in "wv"}
            for upper, added in own[at + 1:]:
                self.assertEqual(set(), {name for name in weak & added if name.startswith("sim_")}, (layer, upper))


if __name__ == "__main__":
    COMPILER, FOLDER, LAYERS = sys.argv[1], sys.argv[2], sys.argv[3:]
    unittest.main(argv=sys.argv[:1])
