// Which part of a batch belongs to which rank.
//
// The remainder is smaller than the number of ranks, so one more for each of the first `remainder` ranks uses it up. A
// rank starts after all ranks before it: rank shares, and one more for each of those that took one more.

// rank: 0 to ranks - 1
void shard(int images, int ranks, int rank, int *first, int *count)
{
    int share = images / ranks, remainder = images % ranks;

    *count = share + (rank < remainder ? 1 : 0);
    *first = rank * share + (rank < remainder ? rank : remainder);
}
