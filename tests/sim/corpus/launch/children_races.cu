// nvcc-refuses: needs -rdc. What orders a kernel and the kernels that it launches: the launching thread's own past and
// the barriers it has met at, the streams of one block, and a tail launch behind all the rest. Nothing else does.
#include "../corpus.h"

__global__ void fill(int *data, int value)
{
    data[threadIdx.x] = value; // expect: race; race a; race c
}

__global__ void set(int *data, int value)
{
    data[threadIdx.x] = value; // expect: race
}

__global__ void total(const int *data, int *sum)
{
    for (int i = 0; i < 32; i++)
        *sum += data[i]; // expect: race b
}

__global__ void add_all(const int *data, int *sum)
{
    atomicAdd(sum, data[threadIdx.x]);
}

__global__ void reads_too_early(int *data, int *out)
{
    if (threadIdx.x == 0)
        fill<<<1, 32>>>(data, 1);
    out[threadIdx.x] = data[threadIdx.x]; // expect: race a
}

__global__ void launches_too_early(int *data, int *sum)
{
    data[threadIdx.x] = 2; // expect: race b
    if (threadIdx.x == 40)
        total<<<1, 1>>>(data, sum);
}

// Each thread for itself, and one of each block for all that have met it.
__global__ void meets_first(int *data, int *sum)
{
    int *mine = data + 64 * blockIdx.x;
    mine[threadIdx.x] = 2;
    if (threadIdx.x % 5 == 0)
        set<<<1, 1>>>(mine + threadIdx.x, 3);
    if (threadIdx.x % 5 == 1)
        mine[threadIdx.x] = 4;
    __syncthreads();
    if (threadIdx.x == 40)
        add_all<<<1, 32>>>(mine, sum);
}

__global__ void two_blocks(int *data)
{
    if (threadIdx.x == 0)
        fill<<<1, 32>>>(data, (int)blockIdx.x); // each into its own block's stream
}

__global__ void two_streams(int *data)
{
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    set<<<1, 32, 0, stream>>>(data, 3);
    set<<<1, 32>>>(data + 16, 4);
    cudaStreamDestroy(stream);
}

__global__ void in_order(int *data, int *sum)
{
    data[0] = 1;
    fill<<<1, 32>>>(data, 5);
    add_all<<<1, 32>>>(data, sum);
    add_all<<<1, 32, 0, cudaStreamTailLaunch>>>(data, sum);
    fill<<<1, 32, 0, cudaStreamTailLaunch>>>(data, 6);
}

// A child's children belong to it: what comes behind it comes behind them.
__global__ void relay(int *data)
{
    fill<<<1, 32, 0, cudaStreamFireAndForget>>>(data, 7);
}

__global__ void behind_a_relay(int *data, int *sum)
{
    relay<<<1, 1>>>(data);
    add_all<<<1, 32>>>(data, sum);
    relay<<<1, 1, 0, cudaStreamTailLaunch>>>(data);
}

__global__ void beside_a_relay(int *data, int *out)
{
    relay<<<1, 1>>>(data);
    *out = data[1]; // expect: race c
}

__global__ void count(int *data)
{
    data[threadIdx.x] += 1;
}

// Tail launches of a grid run one after another, whichever of its blocks they come from.
__global__ void tails_of_blocks(int *data)
{
    count<<<1, 32, 0, cudaStreamTailLaunch>>>(data);
}

int main()
{
    const int size = 128 * sizeof(int);
    int *data, *other;
    CHECK(cudaMalloc(&data, size));
    CHECK(cudaMalloc(&other, size));
    CHECK(cudaMemset(data, 0, size));
    CHECK(cudaMemset(other, 0, size));
    reads_too_early<<<1, 64>>>(data, other);
    launches_too_early<<<1, 64>>>(data, other);
    meets_first<<<2, 64>>>(data, other);
    in_order<<<1, 1>>>(data, other);
    behind_a_relay<<<1, 1>>>(data, other);
    tails_of_blocks<<<5, 1>>>(data);
    two_blocks<<<2, 32>>>(data);
    two_streams<<<1, 1>>>(data);
    beside_a_relay<<<1, 1>>>(data, other);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    CHECK(cudaFree(other));
    return 0;
}
