"""The page about Python does what it shows."""
import os
import re

import heddle


def test_the_examples_of_the_page_run(root, tmp_path, capsys):
    with open(os.path.join(root, 'docs', 'python.md')) as file:
        blocks = re.findall(r'^```python\n(.*?)^```', file.read(), re.M | re.S)
    assert len(blocks) == 8
    os.symlink(os.path.join(root, 'examples'), tmp_path / 'examples')
    names = {}
    for number, block in enumerate(blocks):
        block = block.replace('2000', '300')  # the same with fewer images, and without nvcc, which takes seconds
        block = block.replace('reverse.cu")', 'reverse.cu", nvcc=False)')
        block = re.sub(r'^print\(heddle.check.*', '', block, flags=re.M)  # the same file is checked below
        exec(compile(block, f'docs/python.md, example {number + 1}', 'exec'), names)
    shown = capsys.readouterr().out
    assert 'race error' in shown and '[[ 2. -4.]]' in shown and 'digraph' in shown


def test_the_page_names_everything_that_is_public(root):
    with open(os.path.join(root, 'docs', 'python.md')) as file:
        page = file.read()
    hidden = {'Layer', 'Operator', 'Row', 'Rung', 'Evaluation', 'DeviceInfo', 'Device', 'Ladder', 'Network', 'Result',
              'model_names', 'version'}  # what calls give, or what the page shows by an example
    missing = [name for name in heddle.__all__ if not re.search(rf'\b{name}\b', page) and name not in hidden]
    assert missing == []
