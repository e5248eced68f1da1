// out = 2 * in + 1, in two steps and in two streams. `between` holds what the first step leaves for the second.
//
// An event is a mark in a stream. `first` passes it when the kernel before it has ended, and `second` waits there until
// it has been passed. All this is queued: the host goes on at once.

__global__ void double_all(const float *in, float *between, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        between[i] = 2 * in[i];
}

__global__ void add_one(const float *between, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = between[i] + 1;
}

void double_and_add(const float *in, float *between, float *out, int n, cudaStream_t first, cudaStream_t second)
{
    int blocks = (n + 127) / 128;
    cudaEvent_t doubled;

    cudaEventCreateWithFlags(&doubled, cudaEventDisableTiming);
    double_all<<<blocks, 128, 0, first>>>(in, between, n);
    cudaEventRecord(doubled, first);
    cudaStreamWaitEvent(second, doubled, 0);
    add_one<<<blocks, 128, 0, second>>>(between, out, n);
    cudaEventDestroy(doubled); // takes effect when nothing waits for it any more
}
