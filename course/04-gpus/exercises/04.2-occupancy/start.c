// How many blocks of a kernel a streaming multiprocessor (SM) can hold at once.

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

int blocks_per_sm(const struct sm *sm, const struct kernel *kernel)
{
    return sm->threads / kernel->threads; // TODO: three more limits, and whole warps
}
