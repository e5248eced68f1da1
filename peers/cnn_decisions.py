"""The course's CNN in float64 with its decisions laid open: which place wins a pooling window, which side of a relu a
value is on. Says which of them lie on an edge, and gives the gradients with some of them taken the other way. Not a
program; edges.py has the rules."""

import torch
import torch.nn.functional as F

import cnn_torch
import edges

# Layers whose gradients a decision of each stage reaches: the parameters before it.
REACHED = {"block1": 4, "block2": 8, "hidden": 10}


def against(name, right):
    """What an error of a parameter is relative to. The gradient of a convolution's bias in front of a batchnorm is zero
    but for rounding: the gradient of the same layer's weight stands for it."""
    return right[name.replace("bias", "weight") if name in ("conv1.bias", "conv2.bias") else name].norm()


class Stage:
    """`values` (..., places) of which one is handed on, or none. `scale`: what a margin is counted in."""

    def __init__(self, name, values, scale, forced):
        best, place = values.max(-1)
        alive = best > 0
        for at, other in forced.get(name, {}).items():
            alive[at] = other != edges.NOBODY
            if other != edges.NOBODY:
                place[at] = other
        self.name, self.values, self.scale, self.place, self.alive = name, values, scale, place, alive
        self.out = values.gather(-1, place.unsqueeze(-1)).squeeze(-1) * alive

    def near(self, bound):
        """[(index, place that may have won, margin)]"""
        scaled = (self.values / self.scale).detach()
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


def windows(x):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).permute(0, 1, 2, 4, 3, 5).reshape(n, c, h // 2, w // 2, 4)


def convolution(x, weight, bias):
    """As one product of matrices: there are gradients of hundreds of moved decisions to take, and of float64 cuBLAS has
    fast kernels."""
    n, _, h, w = x.shape
    columns = F.unfold(x, 3, padding=1).transpose(0, 1).flatten(1)
    return (weight.flatten(1) @ columns + bias.unsqueeze(1)).view(-1, n, h, w).transpose(0, 1)


def block(name, x, weight, bias, gamma, beta, forced):
    x = F.batch_norm(convolution(x, weight, bias), None, None, gamma, beta, True, 0.1, cnn_torch.EPSILON)
    return Stage(name, windows(x), gamma.detach().abs().view(1, -1, 1, 1, 1), forced)


class Network:
    """One step. `forced`: {stage: {index: place}}, decisions that are taken so and not as the values say."""

    def __init__(self, step, device, forced=None):
        forced = forced or {}
        self.step, self.device = step, device
        self.parameters = [step["parameters/" + name].to(device, torch.float64).requires_grad_()
                           for name in cnn_torch.NAMES]
        first, second, last = self.parameters[0:4], self.parameters[4:8], self.parameters[8:12]
        block1 = block("block1", step["images"].to(device).double() / 255, *first, forced)
        block2 = block("block2", block1.out, *second, forced)
        hidden = F.linear(block2.out.flatten(1), last[0], last[1])
        relu = Stage("hidden", hidden.unsqueeze(-1), hidden.detach().square().mean().sqrt(), forced)
        self.stages = [block1, block2, relu]
        loss = F.cross_entropy(F.linear(relu.out, last[2], last[3]), step["labels"].to(device).long())
        outs = [stage.out for stage in self.stages]
        found = torch.autograd.grad(loss, outs + self.parameters, retain_graph=True)
        self.out_gradients = found[:len(outs)]
        self.gradients = dict(zip(cnn_torch.NAMES, found[len(outs):]))


class Edges:
    """The decisions of a step that are nearer to their edges than `bound`, and what each moves in the gradients."""

    def __init__(self, step, device, bound):
        network = Network(step, device)
        self.step, self.device, self.gradients = step, device, network.gradients
        self.near = []  # (stage, index, place, margin, place that wins in float64)
        self.moves = []  # {name: what it adds, relative as an error is}
        for stage, gradient in zip(network.stages, network.out_gradients):
            for at, place, margin in stage.near(bound):
                move = self.moved_gradients(network, stage, stage.moved(at, place, gradient))
                if any(one.any() for one in move.values()):  # where nothing comes from above, there is nothing to tell
                    self.near.append((stage.name, at, place, margin, stage.winner(at)))
                    self.moves.append(move)
        self.gram = self.products_of_moves()

    def moved_gradients(self, network, stage, cotangent):
        count = REACHED[stage.name]
        names, parameters = cnn_torch.NAMES[:count], network.parameters[:count]
        found = torch.autograd.grad(stage.values, parameters, cotangent, retain_graph=True)
        return {name: one.flatten() / against(name, self.gradients) for name, one in zip(names, found)}

    def products_of_moves(self):
        """[parameter][move][move]"""
        gram = []
        for name in cnn_torch.NAMES:
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
        residual = {name: ((found[name] - right[name]) / against(name, right)).flatten() for name in cnn_torch.NAMES}
        sizes = [one.square().sum().item() for one in residual.values()]
        along = [[(move[name] @ residual[name]).item() if name in move else 0.0 for move in self.moves]
                 for name in cnn_torch.NAMES]
        taken = edges.choose(sizes, along, self.gram, floor)
        if not taken:
            return right, taken
        forced = {}
        for i in taken:
            stage, at, place = self.near[i][:3]
            forced.setdefault(stage, {})[at] = place
        return Network(self.step, self.device, forced).gradients, taken
