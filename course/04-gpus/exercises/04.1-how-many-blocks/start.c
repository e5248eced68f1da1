// How many blocks a launch needs, and how many of its threads have nothing to do.

int blocks_for(int n, int threads)
{
    return n / threads; // TODO: 10 elements and blocks of 4 threads need 3 blocks
}

int idle_threads(int n, int threads)
{
    return 0; // TODO: with 3 blocks of 4 threads, 2 threads have none of the 10 elements
}
