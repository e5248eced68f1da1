// CUB algorithms in streams, and all that uses their results waits: in the stream, behind an event, after a wait of the
// host, in a graph; one temporary storage serves several calls of a stream.
#include "../corpus.h"
#include <cub/cub.cuh>

const int N = 20000;

__global__ void twice(int *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] *= 2;
}

int main()
{
    int *in = device_ramp<int>(N, N, -1), *out = device_zeros<int>(N), *sum = NULL, last;
    void *room = NULL;
    size_t bytes = 0, most = 0;
    cudaStream_t stream, other;
    cudaEvent_t done;
    CHECK(cudaMallocManaged(&sum, sizeof(int)));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&done));
    CHECK(cub::DeviceRadixSort::SortKeys(NULL, bytes, in, out, N));
    most = bytes;
    CHECK(cub::DeviceReduce::Sum(NULL, bytes, out, sum, N));
    REQUIRE(most > N * sizeof(int) && bytes < most);
    CHECK(cudaMallocAsync(&room, most, stream));
    CHECK(cudaDeviceSynchronize());
    twice<<<(N + 255) / 256, 256, 0, stream>>>(in);
    CHECK(cub::DeviceRadixSort::SortKeys(room, most, in, out, N, 0, 32, stream));
    CHECK(cub::DeviceReduce::Sum(room, bytes, out, sum, N, stream));
    CHECK(cudaEventRecord(done, stream));
    CHECK(cudaStreamWaitEvent(other, done, 0));
    twice<<<(N + 255) / 256, 256, 0, other>>>(out);
    CHECK(cudaMemcpyAsync(&last, out + N - 1, sizeof last, cudaMemcpyDeviceToHost, other));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(*sum == N * (N + 1));
    CHECK(cudaStreamSynchronize(other));
    REQUIRE(last == 4 * N);

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cub::DeviceReduce::Sum(room, bytes, out, sum, N, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    *sum = 0;
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(*sum == 2 * N * (N + 1));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));

    CHECK(cudaFreeAsync(room, stream));
    CHECK(cudaEventDestroy(done));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(other));
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(sum));
    return 0;
}
