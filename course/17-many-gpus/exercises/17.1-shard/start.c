// Which part of a batch belongs to which rank.

// rank: 0 to ranks - 1
void shard(int images, int ranks, int rank, int *first, int *count)
{
    // TODO: the remainder is lost
    *count = images / ranks;
    *first = rank * *count;
}
