// The host polls a flag in its own memory, which a function that a stream runs sets: through volatile, by std::atomic,
// from a callback, from a graph, many times; a function, and a kernel behind one, wait for the host's answer in turn.
#include <atomic>
#include <thread>

#include "../corpus.h"

enum { THREADS = 64, ROUNDS = 20 };

static volatile int flag, answer;
static std::atomic<int> told{0};

__global__ void fill(int *data, int value)
{
    data[threadIdx.x] = value;
}

__global__ void wait_for_host(volatile int *go, int *data)
{
    while (*go == 0)
        continue;
    __threadfence_system();
    *data = 7;
}

static void tell(void *)
{
    flag = 1;
}

static void tell_atomically(void *)
{
    told.store(1, std::memory_order_release);
}

static void tell_and_wait(void *)
{
    flag = 1;
    while (answer == 0)
        std::this_thread::yield();
    told.store(1);
}

static void call_back(cudaStream_t, cudaError_t status, void *word)
{
    *(volatile int *)word = status == cudaSuccess ? 1 : 2;
}

static void poll(const int *data, int value)
{
    while (flag == 0)
        continue;
    REQUIRE(flag == 1 && data[THREADS - 1] == value);
    flag = 0;
}

static void poll_atomically(const int *data, int value)
{
    while (told.load(std::memory_order_acquire) == 0)
        std::this_thread::yield();
    REQUIRE(data[THREADS - 1] == value);
    told = 0;
}

static void by_graph(cudaStream_t stream, int *data)
{
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    fill<<<1, THREADS, 0, stream>>>(data, -1);
    CHECK(cudaLaunchHostFunc(stream, tell, NULL));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphLaunch(ready, stream));
    poll(data, -1);
    CHECK(cudaGraphExecDestroy(ready));
    CHECK(cudaGraphDestroy(graph));
}

static void by_turns(cudaStream_t stream)
{
    CHECK(cudaLaunchHostFunc(stream, tell_and_wait, NULL));
    while (flag == 0)
        continue;
    answer = 1;
    while (told.load() == 0)
        continue;
}

static void by_turns_with_kernel(cudaStream_t stream, int *data)
{
    int *go = NULL;
    CHECK(cudaHostAlloc((void **)&go, sizeof(int), cudaHostAllocMapped));
    *go = 0;
    CHECK(cudaLaunchHostFunc(stream, tell, NULL));
    wait_for_host<<<1, 1, 0, stream>>>(go, data);
    while (flag == 0)
        continue;
    *(volatile int *)go = 1;
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(*data == 7);
    CHECK(cudaFreeHost(go));
}

int main()
{
    int *data = NULL;
    cudaStream_t stream;
    CHECK(cudaMallocManaged(&data, THREADS * sizeof(int)));
    CHECK(cudaStreamCreate(&stream));
    for (int round = 0; round < ROUNDS; round++) {
        fill<<<1, THREADS, 0, stream>>>(data, 3 * round);
        CHECK(cudaLaunchHostFunc(stream, tell, NULL));
        poll(data, 3 * round);
        fill<<<1, THREADS, 0, stream>>>(data, 3 * round + 1);
        CHECK(cudaLaunchHostFunc(stream, tell_atomically, NULL));
        poll_atomically(data, 3 * round + 1);
        fill<<<1, THREADS, 0, stream>>>(data, 3 * round + 2);
        CHECK(cudaStreamAddCallback(stream, call_back, (void *)&flag, 0));
        poll(data, 3 * round + 2);
    }
    by_graph(stream, data);
    by_turns_with_kernel(stream, data);
    flag = 0;
    by_turns(stream);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(data));
    return 0;
}
