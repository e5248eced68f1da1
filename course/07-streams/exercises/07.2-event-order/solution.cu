// out = 2 * in + in * in: both terms at the same time, in two streams, and then their sum in a third.
//
// One event per thing to wait for. (One event would do as well if `join` waited for it twice, right after each record:
// a wait keeps to the place where the event stood when the wait was queued.)

__global__ void double_all(const float *in, float *doubled, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        doubled[i] = 2 * in[i];
}

__global__ void square_all(const float *in, float *squared, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        squared[i] = in[i] * in[i];
}

__global__ void add(const float *doubled, const float *squared, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = doubled[i] + squared[i];
}

void double_and_square(const float *in, float *doubled, float *squared, float *out, int n, cudaStream_t left,
                       cudaStream_t right, cudaStream_t join)
{
    int blocks = (n + 127) / 128;
    cudaEvent_t left_done, right_done;

    cudaEventCreateWithFlags(&left_done, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&right_done, cudaEventDisableTiming);
    double_all<<<blocks, 128, 0, left>>>(in, doubled, n);
    cudaEventRecord(left_done, left);
    square_all<<<blocks, 128, 0, right>>>(in, squared, n);
    cudaEventRecord(right_done, right);
    cudaStreamWaitEvent(join, left_done, 0);
    cudaStreamWaitEvent(join, right_done, 0);
    add<<<blocks, 128, 0, join>>>(doubled, squared, out, n);
    cudaEventDestroy(left_done);
    cudaEventDestroy(right_done);
}
