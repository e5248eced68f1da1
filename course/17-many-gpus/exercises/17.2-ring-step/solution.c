// Which chunk a rank sends and receives in each step of a ring all-reduce. Steps 0 to ranks - 2 in each half.
//
// In C, the remainder has the sign of the dividend: -1 % 4 is -1. Adding the divisor first makes the dividend positive,
// because the step is below it. What a rank receives is what its left neighbour sends: the same formula with rank - 1,
// which is again taken round the ring.

static int round_ring(int number, int ranks)
{
    return (number % ranks + ranks) % ranks;
}

int reduce_sends(int rank, int step, int ranks)
{
    return round_ring(rank - step, ranks);
}

int reduce_receives(int rank, int step, int ranks)
{
    return round_ring(rank - 1 - step, ranks);
}

int gather_sends(int rank, int step, int ranks)
{
    return round_ring(rank + 1 - step, ranks);
}

int gather_receives(int rank, int step, int ranks)
{
    return round_ring(rank - step, ranks);
}
