// A function that a stream runs reads what was copied before it; copies and kernels that come later in the stream use the
// same memory, and wait for it.
#include "../corpus.h"

static int sum;

static void CUDART_CB add(void *value)
{
    sum += *(int *)value;
}

static void CUDART_CB add_and_clear(cudaStream_t stream, cudaError_t status, void *value)
{
    (void)stream, (void)status;
    sum += *(int *)value;
    *(int *)value = 0;
}

__global__ void store(int *out, int value)
{
    *out = value;
}

__global__ void increase(int *out)
{
    *out += 1;
}

int main()
{
    int *device = device_zeros<int>(1), *pinned, *managed;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocHost(&pinned, sizeof *pinned));
    CHECK(cudaMallocManaged(&managed, sizeof *managed));
    *managed = 0;
    for (int i = 1; i <= 3; i++) {
        store<<<1, 1, 0, stream>>>(device, i);
        CHECK(cudaMemcpyAsync(pinned, device, sizeof *pinned, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaLaunchHostFunc(stream, add, pinned));
        increase<<<1, 1, 0, stream>>>(managed);
        CHECK(cudaStreamAddCallback(stream, add_and_clear, managed, 0));
    }
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(sum == 1 + 2 + 3 + 3);

    cudaGraph_t graph;
    cudaGraphExec_t runnable;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    increase<<<1, 1, 0, stream>>>(device);
    CHECK(cudaMemcpyAsync(pinned, device, sizeof *pinned, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, add, pinned));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&runnable, graph, NULL, NULL, 0));
    for (int i = 0; i < 2; i++)
        CHECK(cudaGraphLaunch(runnable, stream));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(sum == 9 + 4 + 5);

    CHECK(cudaGraphExecDestroy(runnable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(managed));
    CHECK(cudaFree(device));
    return 0;
}
