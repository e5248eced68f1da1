"""What notebooks show is well-formed, escaped, and readable on light and dark pages."""
import math
import xml.etree.ElementTree

import pytest

import heddle
from heddle import _draw
from heddle._check import Place, _mark


def parse(text):
    return xml.etree.ElementTree.fromstring(text)


def test_everything_with_a_drawing_has_one(run, network):
    for shown in (run, run.curve, network, network.model, heddle.Tensor([1.0]) * 2):
        alone, inside = shown._repr_svg_(), shown._repr_html_()
        assert parse(alone).tag.endswith('svg') and parse(inside).tag.endswith('svg')
        assert 'prefers-color-scheme:dark' in alone and 'prefers-color-scheme' not in inside
        assert 'fill="currentColor"' in inside  # the colour of the page around it
        written = []

        class Printer:
            text = staticmethod(written.append)
        shown._repr_pretty_(Printer, False)
        assert written == [repr(shown)]


def test_a_network_drawing_has_every_layer(network):
    texts = [each.text for each in parse(network._repr_svg_()).iter() if each.tag.endswith('text')]
    assert all(layer.name in texts for layer in network.model.layers)


def test_names_are_escaped():
    model = heddle.Model({'name': '<b>&"x', 'layers': [{'type': 'flatten'}, {'type': 'linear', 'features': 'classes'}]},
                         (1, 2, 2), 2)
    assert parse(model._repr_html_()) is not None and '&lt;b&gt;&amp;' in model._repr_html_()
    assert '\\"' in _draw.dot([('a"b', 'x')], [])


@pytest.mark.parametrize('points', [[], [(1, 2.0)], [(1, math.nan)], [(0, 0.0), (0, 0.0)],
                                    [(i, (-1) ** i * 1e9 * i) for i in range(30)], [(1, 1e-12), (2, 2e-12)]])
def test_any_series_can_be_drawn(points):
    assert parse('<svg>' + _draw.panel(0, 0, 100, 100, 'title', [('one', 'red', points)]) + '</svg>') is not None


def test_a_deep_graph_can_be_drawn():
    x = heddle.Tensor([1.0], True)
    for _ in range(1200):
        x = x + x
    assert x.dot().count('->') == 2400


@pytest.mark.parametrize('column, marked', [(5, '<b><u>a[i + b[0]]</u></b>'), (1, '<b><u> </u></b>'), (0, 'a[i'), (99, 'a[i')])
def test_the_access_is_underlined(column, marked):
    assert marked in _mark(Place('f', 1, column, '', '', '    a[i + b[0]] = 1;', (), ()))
