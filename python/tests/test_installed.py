"""What only an installed package can show: wheels, source distributions, notebooks, types."""
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

import heddle

pytestmark = pytest.mark.installed


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_installed_package_has_all_it_needs(tmp_path):
    folder = os.path.dirname(heddle.__file__)
    for name in ('py.typed', '_c.py', 'lib/libheddle.so.0', 'bin/heddle', 'lib/heddle/sim/libsim.a',
                 'share/heddle/course/README.md'):
        assert os.path.exists(os.path.join(folder, name)), name
    command = os.path.join(os.path.dirname(sys.executable), 'heddle')
    assert heddle.version() in run(command, '--version')
    assert 'heddle.Dataset' in run(sys.executable, '-c', 'import heddle; print(heddle.Dataset.open("synth:count=9"))',
                                   cwd='/', env={'PATH': '/usr/bin:/bin'})
    # The plugin is there, and naming it does not make it a second one.
    assert '--heddle' in run(sys.executable, '-m', 'pytest', '-p', 'heddle_pytest', '--help', cwd=tmp_path)


def test_the_version_is_that_of_the_library(root):
    with open(os.path.join(root, 'CMakeLists.txt')) as file:
        version = re.search(r'^project\(heddle VERSION ([0-9.]+)', file.read(), re.M).group(1)
    with open(os.path.join(root, 'python', 'pyproject.toml')) as file:
        assert f'\nversion = "{version}"' in file.read()
    assert heddle.__version__ == version


def test_a_source_distribution_is_complete_and_gives_the_same_wheel(root, tmp_path):
    """Without compiling: the sources configure, and the wheel made of them has the same files."""
    python = os.path.join(root, 'python')
    run(sys.executable, '-m', 'build', '--no-isolation', '--sdist', python, '-o', str(tmp_path))
    assert not os.path.exists(os.path.join(python, 'source'))
    archive, = tmp_path.glob('*.tar.gz')
    with tarfile.open(archive) as file:
        names = [name.split('/', 1)[1] for name in file.getnames() if '/' in name]
        file.extractall(tmp_path)
    unpacked = str(archive)[:-len('.tar.gz')]
    tracked = run('git', 'ls-files', 'src', 'include', 'cmake', 'web', 'course', cwd=root).split('\n')[:-1] \
        if os.path.exists(os.path.join(root, '.git')) else []
    assert [name for name in tracked if f'source/{name}' not in names] == []
    run('cmake', '-S', f'{unpacked}/source', '-B', str(tmp_path / 'build'), '-G', 'Ninja', '-DHEDDLE_TESTS=OFF')
    system = ['--config-setting', 'cmake.define.HEDDLE_BUILD=system']
    for folder in (unpacked, python):
        run(sys.executable, '-m', 'build', '--no-isolation', '--wheel', folder, '-o', f'{folder == python}', *system)
    files = [zipfile.ZipFile(next((tmp_path / str(kind)).glob('*.whl'))) for kind in (True, False)]
    assert files[0].namelist() == files[1].namelist()
    assert all(files[0].read(name) == files[1].read(name) for name in files[0].namelist() if name.endswith('.py'))
    wrong = subprocess.run([sys.executable, '-m', 'build', '--no-isolation', '--wheel', python, '-o', 'x', '--config-setting',
                            'cmake.define.HEDDLE_BUILD=/tmp'], capture_output=True, text=True)
    assert wrong.returncode != 0 and 'has no libheddle.so' in wrong.stdout + wrong.stderr


def test_the_notebook_runs_and_shows_its_drawings(root, tmp_path):
    # A copy: a notebook runs in its own folder, and leaves a run there.
    shutil.copy(os.path.join(root, 'examples', 'python', 'tour.ipynb'), tmp_path)
    run(sys.executable, '-m', 'nbconvert', '--to', 'notebook', '--execute', '--inplace', str(tmp_path / 'tour.ipynb'),
        env={**os.environ, 'JUPYTER_PLATFORM_DIRS': '1', 'IPYTHONDIR': str(tmp_path)})
    with open(tmp_path / 'tour.ipynb') as file:
        cells = [cell for cell in json.load(file)['cells'] if cell['cell_type'] == 'code']
    pages = [''.join(output['data']['text/html']) for cell in cells for output in cell['outputs']
             if 'text/html' in output.get('data', {})]
    assert sum('<svg' in page for page in pages) == 4  # curve, network, ladder, graph
    assert not os.path.exists(os.path.join(root, 'examples', 'python', 'runs')) and os.path.isdir('runs')
    assert any('<u>tile[63 - threadIdx.x]</u>' in page for page in pages)
    run(sys.executable, '-m', 'nbconvert', '--to', 'html', str(tmp_path / 'tour.ipynb'))


def test_the_script_runs(root, tmp_path):
    shown = run(sys.executable, os.path.join(root, 'examples', 'python', 'digits.py'))
    assert 'epoch 2/2' in shown and 'is taken for a' in shown and 'heddle.Evaluation(accuracy' in shown


def test_the_annotations_are_right(root, tmp_path):
    run(sys.executable, '-m', 'mypy', '--cache-dir', str(tmp_path / 'cache'), '--ignore-missing-imports',
        os.path.join(root, 'python', 'src', 'heddle'))
    program = tmp_path / 'program.py'
    program.write_text('import heddle\nx: int = heddle.train().folder\n')
    wrong = subprocess.run([sys.executable, '-m', 'mypy', '--cache-dir', str(tmp_path / 'cache'), str(program)],
                           capture_output=True, text=True)
    assert wrong.returncode == 1 and '"Path"' in wrong.stdout, wrong.stdout
