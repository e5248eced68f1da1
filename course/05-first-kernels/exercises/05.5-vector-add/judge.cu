#include "learn.h"

// The smallest copy of a case, to tell a size in elements from one in bytes.
static size_t smallest = SIZE_MAX;
static int smallest_at;  // line of the learner's file
static bool copied_back; // whether anything was

static void note_copy(size_t bytes, cudaMemcpyKind kind, int line)
{
    copied_back |= kind != cudaMemcpyHostToDevice;
    smallest_at = bytes < smallest ? line : smallest_at;
    smallest = bytes < smallest ? bytes : smallest;
}

// How many blocks the last launch had. The kernel notes it where it computes its index.
__device__ unsigned noted_blocks;

__device__ void note_blocks(void)
{
    atomicExch(&noted_blocks, gridDim.x);
}

static unsigned launched_blocks(void)
{
    unsigned blocks = 0;
    learn_check(cudaMemcpyFromSymbol(&blocks, noted_blocks, sizeof blocks));
    return blocks;
}

#define cudaMemcpy(to, from, bytes, kind)                                                                              \
    (learn_refuse_addresses(to, from), note_copy(bytes, kind, __LINE__), cudaMemcpy(to, from, bytes, kind))
#define blockDim (note_blocks(), blockDim)
#include "05.5-vector-add.cu"
#undef cudaMemcpy
#undef blockDim

int main(void)
{
    unsigned blocks = 0;
    for (int n : {5, 1, 256, 257, 3001}) {
        learn_case("n = %d", n);
        std::vector<float> voice = learn_values<float>(n, 1), music = learn_values<float>(n, 2), mix(n), expected(n);
        for (int i = 0; i < n; i++)
            expected[i] = voice[i] + music[i];
        smallest = SIZE_MAX;
        learn_poison(mix.data(), n);
        mix_on_gpu(voice.data(), music.data(), mix.data(), n);
        learn_require_first(mix == expected || smallest >= n * sizeof(float),
                            "the cudaMemcpy in line %d copies only %zu of the %zu bytes. Sizes are in bytes, not in "
                            "elements: n * sizeof(float).",
                            smallest_at, smallest, n * sizeof(float));
        learn_require_first(
            mix == expected || copied_back || launched_blocks() == 0,
            "the kernel has run, and nothing was copied back: mix is as it was before the call. The sums "
            "are on the device. Bring them back with cudaMemcpy; setting the pointer would not do it.");
        learn_wait();
        learn_expect_host("mix", mix, expected);
        learn_require(launched_blocks() != blocks,
                      "the launch has %u blocks for 257 samples and also for 3001: too few for a longer track. The "
                      "number of blocks must grow with n. It comes first: <<<blocks, threads>>>.",
                      blocks);
        blocks = n == 257 ? launched_blocks() : 0;
    }
    return learn_passed();
}
