// Which chunk a rank sends and receives in each step of a ring all-reduce. Steps 0 to ranks - 2 in each half.

int reduce_sends(int rank, int step, int ranks)
{
    return (rank - step) % ranks; // TODO: what is -1 % 4 in C?
}

int reduce_receives(int rank, int step, int ranks)
{
    return 0; // TODO
}

int gather_sends(int rank, int step, int ranks)
{
    return 0; // TODO
}

int gather_receives(int rank, int step, int ranks)
{
    return 0; // TODO
}
