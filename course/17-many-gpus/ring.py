"""A ring all-reduce, step by step: every rank ends with the sum of all, and no link carries more than the others."""

RANKS = 4
values = [[10 * rank + part for part in range(RANKS)] for rank in range(RANKS)]  # values[rank][part]


def show(title):
    print(title)
    for rank in range(RANKS):
        print("  rank %d  %s" % (rank, "  ".join("%3d" % value for value in values[rank])))


show("before")
# Reduce-scatter: in each step every rank sends one part to the right, where it is added.
for step in range(RANKS - 1):
    sent = [(rank, (rank - step) % RANKS) for rank in range(RANKS)]
    moving = [values[rank][part] for rank, part in sent]
    for (rank, part), value in zip(sent, moving):
        values[(rank + 1) % RANKS][part] += value
show("after %d steps each rank has one complete part" % (RANKS - 1))
# All-gather: the complete parts go round once more.
for step in range(RANKS - 1):
    sent = [(rank, (rank + 1 - step) % RANKS) for rank in range(RANKS)]
    moving = [values[rank][part] for rank, part in sent]
    for (rank, part), value in zip(sent, moving):
        values[(rank + 1) % RANKS][part] = value
show("after %d more, all of them" % (RANKS - 1))
