// The host and a function in a stream use the same pinned memory: behind a wait, behind a flag that the function sets,
// and words of their own beside each other.
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "../corpus.h"

struct task {
    int *input, *output;
    std::mutex lock;
    std::condition_variable changed;
    bool over;
};

static std::atomic<int> told{0};
static volatile int *answer;

static void CUDART_CB store(void *value)
{
    *(int *)value += 7;
}

static void CUDART_CB store_and_tell(void *value)
{
    *(int *)value += 1;
    told.store(1);
}

static void CUDART_CB work(void *data)
{
    task *mine = (task *)data;
    for (int i = 0; i < 8; i++)
        mine->output[i] = mine->input[i] + 1;
    std::lock_guard<std::mutex> hold(mine->lock);
    mine->over = true;
    mine->changed.notify_one();
}

static void CUDART_CB wait_for_answer(void *data)
{
    while (*answer == 0)
        continue;
    *(int *)data += 5;
}

int main()
{
    int *words, *flag;
    task one;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocHost(&words, 32 * sizeof *words));
    CHECK(cudaMallocHost(&flag, sizeof *flag));
    for (int i = 0; i < 32; i++)
        words[i] = i;
    for (int round = 0; round < 3; round++) {
        CHECK(cudaLaunchHostFunc(stream, store, words));
        words[1] += 1;
        int seen = words[2];
        CHECK(cudaStreamSynchronize(stream));
        REQUIRE(words[0] == 7 * (round + 1) && seen == 2);
    }
    words[3] = 4;
    CHECK(cudaLaunchHostFunc(stream, store_and_tell, &words[3]));
    while (told.load() == 0)
        continue;
    REQUIRE(words[3] == 5);
    words[3] = 0;

    one.input = words + 8;
    one.output = words + 16;
    one.over = false;
    CHECK(cudaLaunchHostFunc(stream, work, &one));
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum += words[8 + i]; // both read
    {
        std::unique_lock<std::mutex> hold(one.lock);
        one.changed.wait(hold, [&] { return one.over; });
    }
    for (int i = 0; i < 8; i++)
        REQUIRE(words[16 + i] == words[8 + i] + 1);

    answer = flag;
    *answer = 0;
    CHECK(cudaLaunchHostFunc(stream, wait_for_answer, &words[4]));
    words[4] = 1;
    *answer = 1;
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(words[4] == 6 && sum == 92);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(words));
    CHECK(cudaFreeHost(flag));
    return 0;
}
