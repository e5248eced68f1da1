// How many blocks of a kernel a streaming multiprocessor (SM) can hold at once.
//
// Each resource alone would allow so many blocks; all of them must suffice, so the smallest number holds. Divisions
// round down, because a part of a block cannot run.

#define WARP 32 // threads

struct sm {
    int threads;      // at most so many at once
    int blocks;       // at most so many at once
    int registers;    // shared by all threads
    int shared_bytes; // shared by all blocks
};

struct kernel {
    int threads;      // per block, at least 1
    int registers;    // per thread, at least 1
    int shared_bytes; // per block; may be 0
};

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

int blocks_per_sm(const struct sm *sm, const struct kernel *kernel)
{
    int threads = (kernel->threads + WARP - 1) / WARP * WARP; // in whole warps
    int blocks = smaller(sm->blocks, sm->threads / threads);

    blocks = smaller(blocks, sm->registers / (threads * kernel->registers));
    if (kernel->shared_bytes > 0)
        blocks = smaller(blocks, sm->shared_bytes / kernel->shared_bytes);
    return blocks;
}
