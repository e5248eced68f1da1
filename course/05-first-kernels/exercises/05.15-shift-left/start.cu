// Moves all samples one place to the left, in place. One block; it has at least n threads.

__global__ void shift_left(float *samples, int n)
{
    int i = threadIdx.x;

    if (i + 1 < n)
        samples[i] = samples[i + 1];
}
