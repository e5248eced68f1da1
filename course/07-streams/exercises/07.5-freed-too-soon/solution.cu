// out = in * in: computed in one stream, copied to the host in another. `out` is pinned host memory.
//
// The last to use the memory is the copy, in `transfer`. Freed in that stream, it is freed after the copy. The event
// has already ordered the copy, and so the free, after the allocation and the kernel.

__global__ void square_all(const float *in, float *squares, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        squares[i] = in[i] * in[i];
}

void square_and_copy(const float *in, float *out, int n, cudaStream_t compute, cudaStream_t transfer)
{
    float *squares;
    cudaEvent_t computed;

    cudaEventCreateWithFlags(&computed, cudaEventDisableTiming);
    cudaMallocAsync(&squares, n * sizeof(float), compute);
    square_all<<<(n + 127) / 128, 128, 0, compute>>>(in, squares, n);
    cudaEventRecord(computed, compute);
    cudaStreamWaitEvent(transfer, computed, 0);
    cudaMemcpyAsync(out, squares, n * sizeof(float), cudaMemcpyDeviceToHost, transfer);
    cudaFreeAsync(squares, transfer);
    cudaEventDestroy(computed);
}
