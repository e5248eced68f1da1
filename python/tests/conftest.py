"""What the tests share: a folder to work in, and a small trained network."""
import os

import pytest

import heddle

DEVICE = os.environ.get('HEDDLE_TEST_DEVICE', 'cpu')  # cuda: the same tests on a GPU
SMALL = 'synth:count=200'  # 200 training images, 40 test images


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Nothing is written but into a folder of the test."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope='session')
def run(tmp_path_factory):
    """A run of the built-in MLP on generated digits."""
    folder = tmp_path_factory.mktemp('run') / 'mlp'
    return heddle.train('mlp', SMALL, epochs=2, folder=folder, device=DEVICE, threads=1)


@pytest.fixture
def network(run):
    with heddle.load(run.folder, device=DEVICE, threads=1) as loaded:
        yield loaded


@pytest.fixture(scope='session')
def digits():
    return heddle.Dataset.open(SMALL, 'test')


@pytest.fixture(scope='session')
def root():
    """heddle's sources, for its examples."""
    return os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..'))
