// Halves the volume of a recording of n samples: one thread per sample.
//
// In C, n / THREADS rounds down, so the samples that do not fill a block get no block. Adding THREADS - 1 first makes
// it round up: one sample more than a full block is enough to reach the next whole number, and a full block is not.

#define THREADS 64 // per block

__global__ void halve(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i] / 2;
}

// How many blocks of THREADS threads it takes so that each of n samples (n is at least 1) has a thread.
int blocks_for(int n)
{
    return (n + THREADS - 1) / THREADS;
}

void fade(const float *device_in, float *device_out, int n)
{
    halve<<<blocks_for(n), THREADS>>>(device_in, device_out, n);
}
