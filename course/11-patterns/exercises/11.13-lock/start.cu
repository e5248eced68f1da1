// The largest element and its index, under a lock. One thread per block looks at one part of the array.

struct best {
    float value;
    int index;
};

// Waits until *mutex is 0 and sets it to 1.
__device__ void lock(int *mutex)
{
    // TODO
}

// Gives the lock back.
__device__ void unlock(int *mutex)
{
    // TODO
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
