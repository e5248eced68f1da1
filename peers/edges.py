"""Which of the decisions that lie on an edge a program took otherwise than float64, told from its gradient alone.

A relu lets a gradient through or not, and a pooling window hands it to one of its four places. Where the value that
decides is nearer to its edge than a precision rounds, either side is right; but the gradients of the two sides differ
by a fixed vector, which may be thousands of times larger than any rounding. This finds the other sides of such edges,
and names the ones that a program took: those whose vectors its gradient contains. The choice is between all of a vector
and nothing of it, and only decisions within the stated bound can be chosen, so that nothing else hides behind them.

Plain Python on small numbers, without PyTorch: gradients_gpu.py brings the numbers."""

import math

NOBODY = -1  # wins its window: relu lets nothing through
# Nearer to each other than this, two places of a window are the same pixels, and float64 alone tells them apart.
SAME = 1e-12


def winner(window):
    """The place of the largest of a window's values, the first of equals; NOBODY where relu makes all of them 0."""
    best = max(window)
    return list(window).index(best) if best > 0 else NOBODY


def other_sides(window, bound):
    """[(place, margin)]: who else may win where values are known up to `bound`, and how near that is."""
    best, won = max(window), winner(window)
    place = list(window).index(best)
    found = []
    if abs(best) < bound:
        found.append((NOBODY if won != NOBODY else place, abs(best)))
    return found + [(other, best - value) for other, value in enumerate(window)
                    if other != place and SAME < best - value < bound and value > -bound]


def sides(decisions):
    """How many of them went to which side: relu let through what float64 has it stop ("opened"), or the other way round
    ("closed"); another place than float64's won a window, before it ("earlier") or behind it ("later")."""
    found = dict.fromkeys(("opened", "closed", "earlier", "later"), 0)
    for one in decisions:
        place, right = one["place"], one["instead_of"]
        found["opened" if right == NOBODY else "closed" if place == NOBODY else
              "earlier" if place < right else "later"] += 1
    return found


def chance_of_split(one, other):
    """How often a fair coin splits one + other throws at least as unevenly."""
    count = one + other
    return min(1.0, 2 * sum(math.comb(count, i) for i in range(min(one, other) + 1)) / 2**count)


def chance_of_splits(one, other, peer_one, peer_other):
    """How often two splits are no more likely than these if both come from the same odds: Fisher's exact test."""
    own, ones, count = one + other, one + peer_one, one + other + peer_one + peer_other

    def ways(i):
        return math.comb(own, i) * math.comb(count - own, ones - i)

    return sum(ways(i) for i in range(max(0, ones - count + own), min(own, ones) + 1)
               if ways(i) <= ways(one)) / math.comb(count, ones)


class Search:
    """Vectors are taken away from a residual, or given back. Everything is in parts, one for each parameter: sizes[p],
    the squared length of a residual; along[p][i], its product with vector i; gram[p][i][j], the products of the vectors
    with each other."""

    def __init__(self, sizes, along, gram, taken=()):
        self.sizes, self.along, self.gram = list(sizes), [list(part) for part in along], gram
        self.taken = set()
        for i in taken:
            self.turn(i)

    def after(self, *turned):
        """The sizes when those vectors, one or two, are taken, or given back."""
        signs = [1 if i in self.taken else -1 for i in turned]
        sizes = []
        for size, along, gram in zip(self.sizes, self.along, self.gram):
            for sign, i in zip(signs, turned):
                size += sign * 2 * along[i] + gram[i][i]
            if len(turned) == 2:
                size += 2 * signs[0] * signs[1] * gram[turned[0]][turned[1]]
            sizes.append(size)
        return sizes

    def turn(self, i):
        self.sizes, sign = self.after(i), 1 if i in self.taken else -1
        self.along = [[one + sign * gram[j][i] for j, one in enumerate(along)]
                      for along, gram in zip(self.along, self.gram)]
        self.taken ^= {i}

    def descend(self, measure, pairs):
        """Turns what makes `measure` of the sizes smallest, until nothing makes it smaller: one vector, or where no
        single one does, a pair of those that hide each other."""
        singles = [(i,) for i in range(len(self.along[0]))]
        while singles:
            now = measure(self.sizes)
            best, turned = min((measure(self.after(*some)), some) for some in singles)
            if pairs and not best < now - 1e-9 * abs(now):
                best, turned = min((measure(self.after(*some)), some) for some in pairs)
            if not best < now - 1e-9 * abs(now):
                break
            for i in turned:
                self.turn(i)
        return self


def alike(gram):
    """Pairs of vectors that have much of one another, in either direction, in some part."""
    return [(i, j) for i in range(len(gram[0])) for j in range(i)
            if any(part[i][j] ** 2 > 0.1 * part[i][i] * part[j][j] for part in gram)]


def choose(sizes, along, gram, floor):
    """Which vectors a residual contains (see Search), as sorted numbers: those that make the product of all parts'
    lengths smallest. Not their sum: where one part is far off for another reason, a vector that happens to lie along it
    must not be taken at the expense of the others. A length below `floor` is as good as none. A vector without which
    that product is not even a tenth larger is left."""
    def product(sizes):
        return sum(math.log(max(size, 0) + floor * floor) / 2 for size in sizes)

    if not all(math.isfinite(size) for size in sizes):
        return []
    pairs = alike(gram)
    from_sum = Search(sizes, along, gram).descend(sum, pairs).taken
    found = min((Search(sizes, along, gram, start).descend(product, pairs) for start in ((), from_sum)),
                key=lambda search: product(search.sizes))
    while found.taken:
        least, i = min((product(found.after(i)), i) for i in found.taken)
        if least - product(found.sizes) > math.log(1.1):
            break
        found.turn(i)
    return sorted(found.taken)
