"""`heddle data` and images, as a person uses them: lists, pictures, drawings, folders, downloads.

    data.py path/to/heddle
"""

import json
import os
import struct
import subprocess
import sys
import unittest
import zlib

sys.dont_write_bytecode = True  # nothing is left in the source tree
from command import HEDDLE, Command, write_idx, write_png  # noqa: E402


class Data(Command):
    def test_data_list(self):
        sets = {one["name"]: one for one in json.loads(self.run_heddle("data", "list", "--json").stdout)["datasets"]}
        self.assertTrue(sets["synth"]["present"])
        self.assertFalse(sets["mnist"]["present"] and self.home in sets["mnist"]["where"])
        text = self.run_heddle("data", "list").stdout
        for name in ("fashion", "mnist", "synth"):
            self.assertIn(name, sets)
            self.assertIn(name, text)

    def test_data_show_draws_a_folder(self):
        folder = self.folder_of_images()
        lines = self.run_heddle("data", "show", folder, "--count", "2", "--index", "3").stdout.splitlines()
        self.assertIn("5 images, 1 × 2 × 3, 4 classes", lines[0])
        self.assertEqual(lines[2:4], ["===    ***", "#3: 3  #4: 0"])
        many = self.run_heddle("data", "show", folder, "--count", "100", "--split", "train").stdout
        self.assertIn("#7:", many)
        self.assertNotIn("#8:", many)

    def test_data_show_draws_digits_with_their_labels(self):
        shown = self.run_heddle("data", "show", "synth:count=50,seed=3", "--count", "2").stdout
        self.assertRegex(shown, r"#0: \d +#1: \d")
        self.assertRegex(shown, r"[*#%@]{2}")
        blocks = self.run_heddle("data", "show", "synth:count=50,seed=3", "--count", "1", "--style", "blocks").stdout
        self.assertIn("▀", blocks)

    def test_data_show_writes_a_png(self):
        if not json.loads(self.run_heddle("doctor", "--json").stdout)["jobs"][2]["state"] == "ok":
            self.skipTest("built without libpng")
        path = os.path.join(self.home, "sheet.png")
        result = self.run_heddle("data", "show", self.folder_of_images(), "--count", "4", "--png", path)
        with open(path, "rb") as file:
            content = file.read()
        self.assertEqual(content[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", content[16:24])
        self.assertIn(f"4 images, {width} × {height} pixels", result.stdout)
        self.assertEqual(struct.unpack(">I", content[29:33])[0], zlib.crc32(content[12:29]))

    def test_an_image_of_one_colour_is_told_of(self):
        if not json.loads(self.run_heddle("doctor", "--json").stdout)["jobs"][2]["state"] == "ok":
            self.skipTest("built without libpng")
        self.train_in(self.home, "--quiet", "--out", "run")
        for name, dot in (("blank.png", 200), ("dot.png", 0)):
            path = os.path.join(self.home, name)
            write_png(path, 28, [[200] * 28] * 27 + [[200] * 27 + [dot]])
            said = self.run_heddle("predict", self.home + "/run/best.safetensors", path, "--device", "cpu").stderr
            self.assertEqual(said, "" if dot == 0 else "heddle: warning: %s has only one colour: the answer means "
                                                       "nothing\n" % path)

    def test_a_drawing_on_a_transparent_ground_is_seen_whatever_its_colour(self):
        if not json.loads(self.run_heddle("doctor", "--json").stdout)["jobs"][2]["state"] == "ok":
            self.skipTest("built without libpng")
        self.train_in(self.home, "--quiet", "--out", "run")
        stroke = [[255 if 20 < x < 26 and 5 < y < 45 else 0 for x in range(50)] for y in range(50)]
        pictures = {"black": ([[v for opacity in row for v in (0, opacity)] for row in stroke], True),
                    "white": ([[v for opacity in row for v in (255, opacity)] for row in stroke], True),
                    "paper": ([[255 - opacity for opacity in row] for row in stroke], False)}
        said = {}
        for name, (rows, alpha) in pictures.items():
            write_png(f"{self.home}/{name}.png", 50, rows, alpha)
            done = self.run_heddle("predict", self.home + "/run", f"{self.home}/{name}.png", "--json")
            self.assertNotIn("one colour", done.stderr)
            said[name] = json.loads(done.stdout.splitlines()[0])["probabilities"]
        for name in ("white", "paper"):
            for chance, expected in zip(said[name], said["black"]):
                self.assertAlmostEqual(chance, expected, places=5)

    def test_a_digit_for_a_small_dataset_is_cut_to_its_ink(self):
        if not json.loads(self.run_heddle("doctor", "--json").stdout)["jobs"][2]["state"] == "ok":
            self.skipTest("built without libpng")
        folder = os.path.join(self.home, "eight by eight")
        os.mkdir(folder)
        for split, count in (("train", 40), ("t10k", 8)):
            bars = [255 if x in (3, 4) else 0 for _ in range(count) for y in range(8) for x in range(8)]
            write_idx(f"{folder}/{split}-images-idx3-ubyte", (count, 8, 8), bars)
            write_idx(f"{folder}/{split}-labels-idx1-ubyte", (count,), [i % 2 for i in range(count)])
        self.run_heddle("train", "--data", folder, "--model", "mlp", "--epochs", "1", "--quiet", "--out", self.home + "/run")
        path = self.home + "/bar.png"
        write_png(path, 50, [[0 if 30 < x < 41 and 3 < y < 44 else 255 for x in range(50)] for y in range(50)])
        self.assertIn("50×50 cut to the ink, 10×40, scaled to 2×8, centred in 8×8",
                      self.run_heddle("predict", self.home + "/run", path).stdout)

    def test_a_folder_of_image_files_is_a_dataset(self):
        if not json.loads(self.run_heddle("version", "--json").stdout)["libpng"][0].isdigit():
            self.skipTest("built without libpng")
        folder, run = os.path.join(self.home, "bars"), os.path.join(self.home, "run")
        for axis, name in enumerate(("lying", "standing")):
            os.makedirs(f"{folder}/{name}")
            for i in range(40):
                rows = [[255 if abs((y, x)[axis] - i % 20 - 4) < 2 else 0 for x in range(28)] for y in range(28)]
                write_png(f"{folder}/{name}/{i}.png", 28, rows)
        train = ("train", "--data", folder, "--model", "mlp", "--epochs", "4", "--out", run)
        said = self.run_heddle(*train).stdout
        self.assertIn(f"{folder}, 72 training and 8 test images", said)
        self.assertNotIn("\nimages ", said)
        self.assertEqual(json.loads(self.run_heddle("eval", run, "--json").stdout)["classes"], ["lying", "standing"])
        images = [json.loads(self.run_heddle("eval", run, "--json", *split).stdout)["images"]
                  for split in ([], ["--split", "test"], ["--split", "train"])]
        self.assertEqual(images, [8, 8, 72])
        self.assertRegex(self.run_heddle("predict", run, folder + "/lying/7.png").stdout,
                         r"7.png: (lying|standing) \([0-9.]+ %\); next: ")
        self.assertIn("test split: 8 images, 1 × 28 × 28, 2 classes\n", self.run_heddle("data", "show", folder).stdout)
        # another size, which eval takes from the network
        said = self.run_heddle(*train, "--overwrite", "--image-size", "20x12").stdout
        self.assertIn("\nimages  28×28, scaled to 20×12; --image-size sets another size\n", said)
        self.run_heddle("eval", run)
        self.assert_refused(["train", "--out", run, "--resume", "--image-size", "20x20"],
                            "heddle: --image-size cannot change while resuming; leave it out")
        self.assert_refused(["train", "--data", folder, "--image-size", "20x"],
                            "heddle: --image-size 20x is not a size: write 64x48, width first, or 64; a side has 1 to 4096 "
                            "pixels")
        self.assert_refused(["train", "--data", "synth:count=10", "--image-size", "20"],
                            "heddle: --image-size is for folders of PNG or JPEG files; synth has 28×28 images")
        os.rename(folder + "/lying", folder + "/sitting")
        self.assert_refused(["eval", run, "--device", "cpu"], f"heddle: {os.path.realpath(folder)}: class sitting is not one of "
                            "those the network was trained on")

    def test_what_is_left_out_of_a_folder_is_told(self):
        folder = os.path.join(self.home, "pictures")
        for split in ("train", "val"):
            for name in ("a", "b"):
                os.makedirs(f"{folder}/{split}/{name}")
                write_png(f"{folder}/{split}/{name}/0.png", 4, [[9, 7, 5, 3]] * 4)
        train = ["train", "--data", folder, "--model", "mlp", "--epochs", "1", "--device", "cpu", "--quiet", "--batch", "2",
                 "--overwrite", "--out", self.home + "/run"]
        self.assertEqual(self.run_heddle(*train).stderr, "")
        os.makedirs(folder + "/masks")
        os.symlink("/nowhere", folder + "/train/c")
        for name in ("x.webp", "y.webp"):
            with open(f"{folder}/train/a/{name}", "w"):
                pass
        with open(folder + "/README", "w"):
            pass
        ignored = (f"{folder}: ignored: 2 files that are not PNG or JPEG images of a class (such as x.webp), 1 folder beside "
                   "train and test (masks), 1 link that leads nowhere (c)\n")
        self.assertEqual(self.run_heddle(*train).stderr, "heddle: warning: " + ignored)
        self.assertIn(ignored, self.run_heddle("eval", self.home + "/run", "--device", "cpu").stderr)

    def test_classes_without_images_are_told_and_a_folder_is_classified(self):
        if not json.loads(self.run_heddle("version", "--json").stdout)["libpng"][0].isdigit():
            self.skipTest("built without libpng")
        folder, run = os.path.realpath(self.home) + "/points", self.home + "/run"
        for name in ("train/left", "train/right", "train/up", "test/left"):
            os.makedirs(f"{folder}/{name}")
            for i in range(2):
                write_png(f"{folder}/{name}/{i}.png", 4, [[200 * (x == i) for x in range(4)]] * 4)
        train = ["train", "--device", "cpu", "--model", "mlp", "--epochs", "1", "--batch", "2", "--out", run, "--data"]
        said = self.run_heddle(*train, folder).stderr
        self.assertEqual(said, "heddle: warning: 2 of 3 classes have no test images (right, up): the test accuracy does not "
                         "measure them\n")
        said = self.run_heddle("predict", run, folder + "/test/left").stdout
        self.assertRegex(said, r"(?s)left/0.png: .*left/1.png: ")
        self.assert_refused(["predict", run, folder, "--device", "cpu"],
                            f"heddle: {folder} has no PNG or JPEG files; for a folder with one subfolder per class, use heddle "
                            f"eval CHECKPOINT --data {folder}")
        self.assert_refused([*train, folder + "/test", "--overwrite"],
                            f"heddle: {folder}/test has a single class, left; training needs at least two, each with a "
                            "subfolder of images")

    def test_augmentation_is_shown_kept_and_checked(self):
        run = os.path.join(self.home, "run")
        train = ["train", "--data", "synth:count=40", "--model", "mlp", "--epochs", "1", "--out", run]
        said = self.run_heddle(*train, "--augment", "flip,crop:2").stdout
        self.assertIn(", seed 1, crop:2,flip, fused kernels", said)
        resume = ["train", "--out", run, "--resume", "--epochs", "2"]
        self.assert_refused(resume + ["--augment", "crop:3,flip"],
                            "heddle: --augment cannot change while resuming; leave it out")
        self.assertIn("crop:2,flip", self.run_heddle(*resume).stdout)
        self.assertIn("crop:2,flip", self.run_heddle(*resume, "--augment", "crop:2,flip").stdout)
        self.assertNotIn("none", self.run_heddle(*train, "--overwrite").stdout)
        self.assert_refused(train + ["--overwrite", "--augment", "rotate"],
                            'heddle: augmentation "rotate" is not understood: write crop:N, flip and shift:N, each at most '
                            "once, with commas between, or none; N is 1 to 127 pixels")
        self.assertIn("shift:28 moves images of 28×28 out of sight",
                      self.run_heddle(*train, "--overwrite", "--augment", "shift:28", code=2).stderr)

    def test_data_show_says_what_is_wrong(self):
        folder = self.folder_of_images()
        result = self.run_heddle("data", "show", folder, "--index", "5", code=2)
        self.assertIn("--index 5 is out of range", result.stderr)
        with open(f"{folder}/t10k-images-idx3-ubyte", "ab") as file:
            file.write(b"x")
        result = self.run_heddle("data", "show", folder, code=1)
        self.assertEqual(result.stderr.count("\n"), 1)
        self.assertTrue(result.stderr.startswith("heddle: "))
        self.run_heddle("data", "show", os.path.join(self.home, "nosuch"), code=2)

    def test_a_dataset_that_is_not_here_says_how_to_get_it(self):
        if any(one["name"] == "mnist" and one["present"] for one in
               json.loads(self.run_heddle("data", "list", "--json").stdout)["datasets"]):
            self.skipTest("mnist is installed system-wide")
        result = self.run_heddle("data", "show", "mnist", code=3)
        self.assertIn("heddle data get mnist", result.stderr)
        self.assertNotIn("./mnist", result.stderr)
        os.mkdir(self.home + "/mnist")
        said = subprocess.run([HEDDLE, "data", "show", "mnist"], capture_output=True, text=True, cwd=self.home,
                              env={**os.environ, "HOME": self.home}).stderr
        self.assertIn("the folder here is --data ./mnist", said)

    def test_data_get_tells_what_failed(self):
        result = self.run_heddle("data", "get", "nosuch", code=2)
        self.assertTrue(result.stderr.startswith("heddle: "))
        result = self.run_heddle("data", "get", "mnist", "--to", self.home, "--mirror", "http://127.0.0.1:9/", code=1)
        self.assertIn("127.0.0.1:9", result.stderr)
        self.assertEqual(os.listdir(self.home + "/mnist"), [])


if __name__ == "__main__":
    unittest.main()
