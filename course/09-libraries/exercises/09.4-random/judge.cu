#include "learn.h"

#include "09.4-random.cu"

static std::vector<float> drawn(int n, int chunk, unsigned long long seed)
{
    std::vector<float> values(n);
    float *device = learn_output<float>(n);
    fill_uniform(device, n, chunk, seed);
    learn_wait();
    cudaMemcpy(values.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        learn_require(values[i] >= 0 && values[i] <= 1, "out[%d] is %g, not between 0 and 1", i, values[i]);
    return values;
}

// How many numbers of the two chunks are equal, place by place. Two independent chunks of 100 have hardly any.
static int shared(const std::vector<float> &one, const std::vector<float> &other, int first, int second, int chunk)
{
    int equal = 0;
    for (int i = 0; i < chunk; i++)
        equal += one[first * chunk + i] == other[second * chunk + i];
    return equal;
}

int main(void)
{
    enum { CHUNK = 100, CHUNKS = 4, SEEDS = 3, ALLOWED = 2 };
    std::vector<float> of_seed[SEEDS];
    for (int seed = 0; seed < SEEDS; seed++) {
        learn_case("n = %d, chunk = %d, seed = %d", CHUNKS * CHUNK, CHUNK, seed);
        of_seed[seed] = drawn(CHUNKS * CHUNK, CHUNK, seed);
        for (int first = 0; first < CHUNKS; first++)
            for (int earlier = 0; earlier <= seed; earlier++)
                for (int second = 0; second < (earlier < seed ? (int)CHUNKS : first); second++)
                    learn_require(shared(of_seed[seed], of_seed[earlier], first, second, CHUNK) <= ALLOWED,
                                  "chunk %d of seed %d has the numbers of chunk %d of seed %d", first, seed, second,
                                  earlier);
    }
    learn_case("seed = 1 a second time");
    learn_expect_host("out", drawn(CHUNKS * CHUNK, CHUNK, 1), of_seed[1]);
    learn_case("n = 7, chunk = 3, the last chunk is shorter");
    drawn(7, 3, 5);
    return learn_passed();
}
