// Several host threads use the card at once, each with a stream of its own; and a program that waits for a stream's
// callback by means of its own still sees the stream run.
#include "check.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

static void work(int number)
{
    cudaStream_t stream;
    int *device, *pinned;
    WORKS(cudaSetDevice(0));
    WORKS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    WORKS(cudaMalloc(&device, COUNT * sizeof(int)));
    WORKS(cudaMallocHost(&pinned, COUNT * sizeof(int)));
    for (int i = 0; i < 20; i++) {
        set_all<<<BLOCKS, BLOCK, 0, stream>>>(device, COUNT, number);
        add_one<<<BLOCKS, BLOCK, 0, stream>>>(device, COUNT);
        WORKS(cudaMemcpyAsync(pinned, device, COUNT * sizeof(int), cudaMemcpyDeviceToHost, stream));
        WORKS(cudaStreamSynchronize(stream));
        HOLDS(all_are(pinned, number + 1));
    }
    WORKS(cudaFree(device));
    WORKS(cudaFreeHost(pinned));
    WORKS(cudaStreamDestroy(stream));
}

static void threads_do_not_disturb_each_other()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; i++)
        threads.emplace_back(work, 10 * i);
    for (auto &thread : threads)
        thread.join();
}

// The last error is each thread's own.
static void errors_stay_in_their_thread()
{
    GIVES(cudaErrorInvalidDevice, cudaSetDevice(7));
    std::thread other([] { HOLDS(cudaGetLastError() == cudaSuccess); });
    other.join();
    HOLDS(cudaGetLastError() == cudaErrorInvalidDevice);
}

static std::mutex mutex;
static std::condition_variable condition;
static bool called;

static void tell(void *)
{
    std::lock_guard<std::mutex> hold(mutex);
    called = true;
    condition.notify_one();
}

static void work_runs_without_being_waited_for()
{
    int *device;
    WORKS(cudaMalloc(&device, COUNT * sizeof(int)));
    set_all<<<BLOCKS, BLOCK>>>(device, COUNT, 3);
    WORKS(cudaLaunchHostFunc(0, tell, NULL));
    {
        std::unique_lock<std::mutex> hold(mutex);
        condition.wait(hold, [] { return called; });
    }
    WORKS(cudaFree(device));
}

int main()
{
    threads_do_not_disturb_each_other();
    errors_stay_in_their_thread();
    work_runs_without_being_waited_for();
    return 0;
}
