// Halves the volume of a recording of n samples: one thread per sample.

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
    return n / THREADS; // TODO: try it by hand with n = 64, 65 and 100
}

void fade(const float *device_in, float *device_out, int n)
{
    halve<<<blocks_for(n), THREADS>>>(device_in, device_out, n);
}
