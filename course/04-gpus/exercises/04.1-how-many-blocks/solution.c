// How many blocks a launch needs, and how many of its threads have nothing to do.
//
// Whole blocks first, and one more if some elements are left over. The usual (n + threads - 1) / threads is the same,
// but its sum does not fit into an int if n is close to the largest one. For the same reason, the idle threads are
// computed from the remainder and not from blocks * threads.

int blocks_for(int n, int threads)
{
    return n / threads + (n % threads > 0);
}

int idle_threads(int n, int threads)
{
    int left_over = n % threads; // elements in the last block, 0 if all blocks are full

    return left_over > 0 ? threads - left_over : 0;
}
