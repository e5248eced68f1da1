// The largest element of an array: one thread per element.
//
// The loop ends in one of two ways: what is there is at least as large as value, or the swap succeeded because the word
// still held what was seen before. If another thread was faster, atomicCAS returns what that thread stored, and the
// decision is made again. The first read is an atomic, too: a plain read next to atomics of other threads is a race.

// *address becomes the larger of *address and value, in one uninterrupted operation.
__device__ void atomic_max(float *address, float value)
{
    int *bits = (int *)address;
    int seen = atomicAdd(bits, 0), expected;

    do {
        expected = seen;
        if (__int_as_float(expected) >= value)
            return;
        seen = atomicCAS(bits, expected, __float_as_int(value));
    } while (seen != expected);
}

__global__ void find_largest(const float *in, float *largest, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        atomic_max(largest, in[i]);
}
