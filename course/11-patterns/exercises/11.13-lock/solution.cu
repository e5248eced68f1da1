// The largest element and its index, under a lock. One thread per block looks at one part of the array.
//
// atomicCAS lets exactly one thread swap 0 for 1; all others try again. The fence after it keeps reads of the protected
// data from seeing values from before the lock was taken. The fence before the release makes the writes visible before
// the lock is seen to be free. Without the two, the next thread may find the lock free and the data old.

struct best {
    float value;
    int index;
};

// Waits until *mutex is 0 and sets it to 1.
__device__ void lock(int *mutex)
{
    while (atomicCAS(mutex, 0, 1) != 0)
        ;
    __threadfence();
}

// Gives the lock back.
__device__ void unlock(int *mutex)
{
    __threadfence();
    atomicExch(mutex, 0);
}

__global__ void find_best(const float *in, struct best *best, int *mutex, int n, int part)
{
    int first = blockIdx.x * part, last = min(first + part, n), index = first;

    if (threadIdx.x != 0 || first >= n)
        return;
    for (int i = first; i < last; i++)
        if (in[i] > in[index])
            index = i;

    lock(mutex);
    if (in[index] > best->value || (in[index] == best->value && index < best->index)) {
        best->value = in[index];
        best->index = index;
    }
    unlock(mutex);
}
