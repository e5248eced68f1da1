// barrier-exited: barrier that some threads skip

__global__ void shift_left(float *samples, int n)
{
    int i = threadIdx.x;
    float next = 0;

    if (i + 1 < n) {
        next = samples[i + 1];
        __syncthreads();
    }
    if (i + 1 < n)
        samples[i] = next;
}
