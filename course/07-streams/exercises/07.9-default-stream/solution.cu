// *sum = the sum of n numbers, in a stream that was made with cudaStreamNonBlocking.
//
// The memory is cleared in the same stream, so it is cleared before the kernel begins. In the default stream it could
// be cleared at any time, also in the middle of the kernel.

__global__ void add_to(const float *in, int n, float *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        atomicAdd(sum, in[i]);
}

void add_up(const float *in, int n, float *sum, cudaStream_t stream)
{
    cudaMemsetAsync(sum, 0, sizeof *sum, stream);
    add_to<<<(n + 127) / 128, 128, 0, stream>>>(in, n, sum);
}
