#include "learn.h"

// Contention on purpose: each block finds the lock taken the first time it asks, so it has to ask again.
__device__ static int asked[64];

__device__ static int contended_swap(int *address, int expected, int wanted)
{
    if (atomicAdd(&asked[blockIdx.x], 1) == 0)
        return wanted;
    return atomicCAS(address, expected, wanted);
}

#define atomicCAS contended_swap
#include "11.13-lock.cu"

int main(void)
{
    struct {
        int n, part;
    } cases[] = {{1, 1}, {1009, 64}, {256, 16}};
    for (auto c : cases) {
        learn_case("n = %d in parts of %d", c.n, c.part);
        std::vector<float> in = learn_values<float>(c.n);
        struct best initial = {-INFINITY, 0}, expected = {-INFINITY, 0}, found;
        for (int i = 0; i < c.n; i++)
            if (in[i] > expected.value)
                expected = {in[i], i};
        float *device_in = learn_device(in);
        struct best *best = learn_device(std::vector<struct best>(1, initial));
        int *mutex = learn_device(std::vector<int>(1, 0));
        std::vector<int> never(64, 0);
        cudaMemcpyToSymbol(asked, never.data(), sizeof asked);
        find_best<<<(c.n + c.part - 1) / c.part, 32>>>(device_in, best, mutex, c.n, c.part);
        learn_wait();
        cudaMemcpy(&found, best, sizeof found, cudaMemcpyDeviceToHost);
        learn_require(found.value == expected.value && found.index == expected.index,
                      "best is value %g at index %d, expected %g at index %d", found.value, found.index, expected.value,
                      expected.index);
        learn_expect("mutex", mutex, std::vector<int>(1, 0));
    }
    return learn_passed();
}
