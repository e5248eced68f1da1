"""heddle.check and heddle.bench: objects from what the command prints."""
import os
import subprocess
import sys
import textwrap
import xml.etree.ElementTree

import pytest

import heddle

RACE = '''
#include <cstdio>
__global__ void reverse(float *data)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = data[threadIdx.x];
    data[threadIdx.x] = tile[63 - threadIdx.x];
}
int main(int argc, char **)
{
    float *data;
    cudaMalloc(&data, 64 * sizeof(float));
    cudaMemset(data, 0, 64 * sizeof(float));
    reverse<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
    printf("%d words\\n", argc);
    return 0;
}
'''


@pytest.fixture(scope='module')
def racy():
    return heddle.check(source=RACE, nvcc=False, arguments=['one', 'two'])


def test_a_race_is_a_finding_with_both_places(racy):
    assert not racy.passed and not racy.clean and racy.status == 'errors' and racy.verdict == '1 error, 0 warnings'
    finding, = racy.findings
    assert racy.errors == [finding] and racy.warnings == []
    assert finding.kind == 'race' and finding.tier == 'error' and finding.kernel == 'reverse'
    assert {(place.line, place.role) for place in finding.places} == {(6, 'write'), (7, 'read')}
    assert '__syncthreads()' in finding.advice and 'no synchronisation' in finding.message
    assert 'tile[63 - threadIdx.x]' in [place for place in finding.places if place.role == 'read'][0].source
    assert racy.kernels[0].name == 'reverse' and racy.kernels[0].block == (64, 1, 1)
    assert {(counter.line, counter.space) for counter in finding.counters} >= {(6, 'shared'), (7, 'shared')}
    assert '3 words' in racy.output


def test_a_report_is_readable_in_a_terminal_and_a_notebook(racy):
    assert 'error: data race' in str(racy) and 'read at' in str(racy.findings[0])
    page = racy._repr_html_()
    assert '<b><u>tile[63 - threadIdx.x]</u></b>' in page
    assert xml.etree.ElementTree.fromstring(page) is not None  # well-formed


def test_wrong_usage_of_check_is_an_exception():
    with pytest.raises(heddle.Invalid, match='nosuch.cu'):
        heddle.check('nosuch.cu')
    with pytest.raises(heddle.Invalid, match='one of them'):
        heddle.check()
    with pytest.raises(heddle.Invalid, match='one of them'):
        heddle.check('a.cu', source='int main() {}')
    with pytest.raises(heddle.Invalid):
        heddle.check(source=RACE, gpu='gtx0', nvcc=False)
    with pytest.raises(heddle.Invalid, match='--timeout 0 is out of range'):
        heddle.check(source=RACE, timeout=0)
    for texts in ({'flags': '-DN=64'}, {'arguments': '64'}, {'shapes': 'm=64'}):
        with pytest.raises(heddle.Invalid, match='give a list'):
            heddle.check(source=RACE, **texts)
    with pytest.raises(heddle.Invalid, match='--help: no such file'):
        heddle.check('--help')
    with pytest.raises(heddle.Error, match='no result'):
        heddle.check(source=RACE, flags=['--help'])
    with pytest.raises(heddle.Invalid, match='NUL'):
        heddle.check('a\0.cu')


def test_a_program_that_does_not_compile_is_a_report():
    report = heddle.check(source='int main() { return x; }', nvcc=False)
    assert not report.passed and report.status == 'not built'
    assert [finding.kind for finding in report.findings] == ['not-built'] and report.findings[0].places[0].line == 1


def test_bench_gives_rows_and_a_drawing():
    ladder = heddle.bench('transpose', shape='rows=64 cols=48', device='cpu', seconds=0.01)
    assert [row.rung for row in ladder] == ['cpu_naive', 'cpu_blocked'] and len(ladder) == 2
    assert all(row.ok and row.microseconds > 0 and row.shape == 'rows=64 cols=48' for row in ladder)
    assert ladder[0].tier == 'naive' and 'cpu_blocked' in repr(ladder)
    drawing = xml.etree.ElementTree.fromstring(ladder._repr_svg_())
    assert len(drawing.findall('{http://www.w3.org/2000/svg}rect')) == 2


@pytest.mark.parametrize('given, words', [
    ({'op': 'matmul'}, ['matmul_forward', '--quick']), ({'op': 'relu'}, ['relu_forward', '--quick']),
    ({'op': 'matmul/cpu_naive'}, ['matmul/cpu_naive', '--quick']), ({'op': 'quantise'}, ['quantise', '--quick']),
    ({'op': 'sync_batchnorm2d'}, ['sync_batchnorm2d_moments', '--quick']),
    ({'op': 'matmul', 'quick': False}, ['matmul']), ({'op': 'matmul', 'shape': 'm=1'}, ['matmul', '--shape', 'm=1']),
])
def test_a_ladder_is_its_forward_operator_at_one_shape_unless_more_is_asked_for(monkeypatch, given, words):
    asked = []
    monkeypatch.setattr('heddle._bench.run', lambda words, event: (asked.append(words), ({'results': []}, ''))[1])
    heddle.bench(**given)
    assert asked == [['bench', '--json', *words]]


def test_progress_of_bench_is_on_standard_error(capfd):
    heddle.bench('transpose', shape='rows=8 cols=8', device='cpu', seconds=0.001, progress=True)
    said = capfd.readouterr()
    assert said.out == '' and said.err.count('\n') == 2 and said.err.startswith('transpose/cpu_naive  rows=8 cols=8  ')
    told = []
    ladder = heddle.bench('transpose', shape='rows=8 cols=8', device='cpu', seconds=0.001, progress=told.append)
    assert [(row.rung, row.ok) for row in told] == [(row.rung, row.ok) for row in ladder] and len(told) == 2
    heddle.bench('transpose', shape='rows=8 cols=8', device='cpu', seconds=0.001)
    assert capfd.readouterr().err == ''  # not a terminal


def test_an_exception_in_progress_stops_the_command():
    def stop(row):
        raise KeyError(row.rung)

    with pytest.raises(KeyError, match='cpu_naive'):
        heddle.bench('transpose', shape='rows=8 cols=8', device='cpu', seconds=0.001, progress=stop)


def test_wrong_usage_of_bench_is_an_exception():
    with pytest.raises(heddle.Invalid, match='nosuch'):
        heddle.bench('nosuch')
    with pytest.raises(heddle.Invalid, match='bench train'):
        heddle.bench('train')
    with pytest.raises(heddle.Invalid):
        heddle.bench('transpose', shape='rows=-1 cols=2', device='cpu')
    with pytest.raises(heddle.Invalid, match='--seconds needs a number'):
        heddle.bench('transpose', seconds=float('nan'))


def test_ctrl_c_stops_the_command_too():
    program = textwrap.dedent('''
        import os, signal, threading
        import heddle
        from heddle import _command
        read = _command._lines

        def lines(process, event):
            print(process.pid, flush=True)
            threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()
            return read(process, event)

        _command._lines = lines
        heddle.bench('matmul', device='cpu', seconds=600)
    ''')
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True)
    assert 'KeyboardInterrupt' in done.stderr
    assert not os.path.exists(f'/proc/{int(done.stdout)}')


def test_the_package_runs_the_command():
    done = subprocess.run([sys.executable, '-m', 'heddle', 'version'], capture_output=True, text=True)
    assert done.returncode == 0 and heddle.version() in done.stdout
    wrong = subprocess.run([sys.executable, '-m', 'heddle', 'nosuch'], capture_output=True, text=True)
    assert wrong.returncode == 2
    lost = subprocess.run([sys.executable, '-m', 'heddle'], capture_output=True, text=True,
                          env={**os.environ, 'HEDDLE_COMMAND': '/nosuch'})
    assert lost.returncode != 0 and 'HEDDLE_COMMAND' in lost.stderr


def test_hints_name_the_command_as_a_shell_finds_it(tmp_path, monkeypatch):
    from heddle._library import command
    words = [sys.executable, '-m', 'heddle', 'explain']
    assert f'`{command()} explain KIND`' in subprocess.run(words, capture_output=True, text=True).stdout
    (tmp_path / 'bin').mkdir()
    (tmp_path / 'bin' / 'heddle').symlink_to(command())
    monkeypatch.setenv('PATH', f'{tmp_path}/bin:{os.environ["PATH"]}')
    for call in (words, [command(), 'explain']):
        assert '`heddle explain KIND`' in subprocess.run(call, capture_output=True, text=True).stdout


@pytest.mark.parametrize('value, message', [('/nosuch/libheddle.so', 'cannot load'), ('/tmp', 'has no libheddle'),
                                            ('libz.so.1', 'is not libheddle')])
def test_a_library_that_cannot_be_used_is_named(value, message):
    done = subprocess.run([sys.executable, '-c', 'import heddle'], capture_output=True, text=True,
                          env={**os.environ, 'HEDDLE_LIBRARY': value})
    assert done.returncode == 1 and 'ImportError' in done.stderr and message in done.stderr


def test_modules_of_pytorch_need_the_other_package():
    with pytest.raises(heddle.Missing, match='pip install --no-build-isolation ./python/torch'):
        heddle.to_torch('run')
