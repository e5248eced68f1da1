"""A network in float64 with its decisions laid open: which place wins a pooling window, which side of a relu a value is
on. Says which of them lie on an edge, and gives the gradients with some of them taken the other way. Not a program;
edges.py has the rules."""

import torch
import torch.nn.functional as F

import edges
import model_file
import network_torch


def compared_with(model):
    """{bias: weight}: the gradient of a convolution's bias in front of a batchnorm is zero but for rounding, so its
    error is relative to the gradient of the same layer's weight."""
    lists = [model.layers] + [one for layer in model_file.walk(model.layers) if layer.type == "residual"
                              for one in (layer.layers, layer.projection)]
    pairs = [pair for layers in lists for pair in zip(layers, layers[1:])]
    return {first.name + ".bias": first.name + ".weight" for first, second in pairs
            if (first.type, second.type) == ("conv2d", "batchnorm2d")}


class Stage:
    """`values` (..., places) of which one is handed on, or none where a `relu` stops it; `scale`: what margins are
    counted in."""

    def __init__(self, name, values, scale, relu, forced):
        best, place = values.max(-1)
        alive = best > 0 if relu else torch.ones_like(best, dtype=torch.bool)
        for at, other in forced.get(name, {}).items():
            alive[at] = other != edges.NOBODY
            if other != edges.NOBODY:
                place[at] = other
        self.name, self.values, self.scale, self.relu = name, values, scale, relu
        self.place, self.alive = place, alive
        self.out = values.gather(-1, place.unsqueeze(-1)).squeeze(-1) * alive

    def near(self, bound):
        """[(index, place that may have won, margin)]"""
        scaled = (self.values / self.scale).detach()
        if not self.relu:  # far above zero, so that nobody is stopped
            scaled = scaled - scaled.amin(-1, keepdim=True) + 1
        best = scaled.max(-1).values
        gap = best.unsqueeze(-1) - scaled
        rivals = ((gap > edges.SAME) & (gap < bound)).any(-1) & (best > -bound)
        found = []
        for at in ((best.abs() < bound) | rivals).nonzero().tolist():
            at = tuple(at)
            found += [(at, place, margin) for place, margin in edges.other_sides(scaled[at].tolist(), bound)]
        return found

    def winner(self, at):
        return int(self.place[at]) if self.alive[at] else edges.NOBODY

    def moved(self, at, place, gradient):
        """What the other side of a decision adds to the gradient of `values`."""
        cotangent = torch.zeros_like(self.values)
        if self.alive[at]:
            cotangent[at + (int(self.place[at]),)] -= gradient[at]
        if place != edges.NOBODY:
            cotangent[at + (place,)] += gradient[at]
        return cotangent


def windows(x, size):
    """(N, C, H, W) as (N, C, H / size, W / size, size * size); what is left over at the edges is in no window."""
    n, c, h, w = x.shape
    h, w = h // size, w // size
    x = x[:, :, :h * size, :w * size].reshape(n, c, h, size, w, size)
    return x.permute(0, 1, 2, 4, 3, 5).reshape(n, c, h, w, size * size)


def is_plain(layer):
    """A pooling layer whose windows do not overlap."""
    return layer.type == "maxpool2d" and layer.stride == layer.window and layer.padding == 0


def convolution(layer, values, x):
    """As one product of matrices: there are gradients of hundreds of moved decisions to take, and for float64 cuBLAS
    has fast kernels."""
    if layer.groups > 1:
        return network_torch.convolve(layer, values, x, True)
    columns = F.unfold(x, layer.kernel, layer.dilation, layer.padding, layer.stride).transpose(0, 1).flatten(1)
    x = (values[layer.name + ".weight"].flatten(1) @ columns).view(-1, len(x), *layer.output[1:]).transpose(0, 1)
    return x + values[layer.name + ".bias"].view(-1, 1, 1) if layer.bias else x


class Network:
    """One step. `forced`: {stage: {index: place}}, decisions that are taken so and not as the values say."""

    def __init__(self, model, step, device, forced=None):
        self.forced, self.stages = forced or {}, []
        names = [one.name for one in model.parameters() if one.trained]
        self.parameters = {name: step["parameters/" + name].to(device, torch.float64).requires_grad_()
                           for name in names}
        logits = self.forward(model.layers, step["images"].to(device).double() / 255)
        loss = F.cross_entropy(logits, step["labels"].to(device).long())
        outs = [stage.out for stage in self.stages]
        found = torch.autograd.grad(loss, outs + list(self.parameters.values()), retain_graph=True)
        self.out_gradients = found[:len(outs)]
        self.gradients = dict(zip(names, found[len(outs):]))

    def forward(self, layers, x):
        number = 0
        while number < len(layers):
            layer, pair = layers[number], layers[number:number + 2]
            kinds = [one.type for one in pair]
            if sorted(kinds) == ["maxpool2d", "relu"] and any(map(is_plain, pair)):
                pool = pair[kinds.index("maxpool2d")]
                x = self.decide(layer.name, windows(x, pool.window), self.scale_of(layers, number, x), True)
                number += 1
            elif layer.type == "relu":
                x = self.decide(layer.name, x.unsqueeze(-1), self.scale_of(layers, number, x), True)
            elif is_plain(layer):
                x = self.decide(layer.name, windows(x, layer.window), self.scale_of(layers, number, x), False)
            elif layer.type == "maxpool2d":
                raise RuntimeError("%s: windows that overlap or are padded cannot be laid open" % layer.name)
            elif layer.type == "residual":
                x = self.forward(layer.layers, x) + self.forward(layer.projection, x)
            elif layer.type == "conv2d":
                x = convolution(layer, self.parameters, x)
            else:
                x = network_torch.LAYERS[layer.type](layer, self.parameters, x, True)
            number += 1
        return x

    def decide(self, name, values, scale, relu):
        self.stages.append(Stage(name, values, scale, relu, self.forced))
        return self.stages[-1].out

    def scale_of(self, layers, number, x):
        """What values deviate by: behind a batchnorm gamma of their channel, elsewhere their root mean square."""
        before = layers[number - 1] if number else None
        if before is not None and before.type == "batchnorm2d":
            return self.parameters[before.name + ".weight"].detach().abs().view(1, -1, 1, 1, 1)
        return x.detach().square().mean().sqrt()


class Edges:
    """The decisions of a step that are nearer to their edges than `bound`, and what each moves in the gradients."""

    def __init__(self, model, step, device, bound):
        network = Network(model, step, device)
        self.model, self.step, self.device, self.gradients = model, step, device, network.gradients
        self.against = compared_with(model)
        self.near = []  # (stage, index, place, margin, place that wins in float64)
        self.moves = []  # {name: what it adds, relative as an error is}
        for stage, gradient in zip(network.stages, network.out_gradients):
            for at, place, margin in stage.near(bound):
                move = self.moved_gradients(network, stage, stage.moved(at, place, gradient))
                if any(one.any() for one in move.values()):  # where nothing comes from above, there is nothing to tell
                    self.near.append((stage.name, at, place, margin, stage.winner(at)))
                    self.moves.append(move)
        self.gram = self.products_of_moves()

    def size_of(self, name, right):
        """What an error of a parameter is relative to."""
        return right[self.against.get(name, name)].norm()

    def moved_gradients(self, network, stage, cotangent):
        """Of the parameters before the stage: a decision reaches no others."""
        found = torch.autograd.grad(stage.values, list(network.parameters.values()), cotangent, retain_graph=True,
                                    allow_unused=True)
        return {name: one.flatten() / self.size_of(name, self.gradients)
                for name, one in zip(network.parameters, found) if one is not None}

    def products_of_moves(self):
        """[parameter][move][move]"""
        gram = []
        for name in self.gradients:
            having = torch.tensor([i for i, move in enumerate(self.moves) if name in move], dtype=torch.long)
            part = torch.zeros(len(self.moves), len(self.moves), dtype=torch.float64)
            if len(having):
                matrix = torch.stack([self.moves[i][name] for i in having])
                part[having.unsqueeze(1), having] = (matrix @ matrix.T).cpu()
            gram.append(part.tolist())
        return gram

    def are_of(self, step):
        """Whether another step began from the same: all but its gradients."""
        return all(torch.equal(self.step[name], step[name]) for name in self.step
                   if not name.startswith(("gradients/", "loss")))

    def fitted(self, found, floor):
        """(float64's gradients with the decisions that `found` was computed with, which of `near` those are)"""
        right = self.gradients
        residual = {name: ((found[name] - right[name]) / self.size_of(name, right)).flatten() for name in right}
        sizes = [one.square().sum().item() for one in residual.values()]
        along = [[(move[name] @ residual[name]).item() if name in move else 0.0 for move in self.moves]
                 for name in right]
        taken = edges.choose(sizes, along, self.gram, floor)
        if not taken:
            return right, taken
        forced = {}
        for i in taken:
            stage, at, place = self.near[i][:3]
            forced.setdefault(stage, {})[at] = place
        return Network(self.model, self.step, self.device, forced).gradients, taken
