// The Mersenne twister in kernels: 256 threads of a block draw from one state together, and give what its recurrence
// gives one number after the other. The twister is made up here. Then generators that need cuRAND's own library, where
// no toolkit is installed.
#include "../corpus.h"
#include <curand.h>
#include <curand_kernel.h>

const int THREADS = 256, ROUNDS = 5, WHICH = 3;

__global__ void draw(curandStateMtgp32_t *state, unsigned *out)
{
    for (int i = 0; i < ROUNDS; i++)
        out[i * THREADS + threadIdx.x] = curand(state);
}

static unsigned tempered(const mtgp32_kernel_params_t &k, unsigned word, unsigned t)
{
    t ^= t >> 16;
    t ^= t >> 8;
    return word ^ k.temper_tbl[WHICH][t & 15];
}

int main()
{
    static mtgp32_kernel_params_t parameters[1];
    static curandStateMtgp32_t states[1];
    static unsigned words[MTGPDC_N + ROUNDS * THREADS], drawn[ROUNDS * THREADS];
    mtgp32_kernel_params_t &k = parameters[0];
    k.pos_tbl[WHICH] = 88;
    k.sh1_tbl[WHICH] = 13;
    k.sh2_tbl[WHICH] = 4;
    k.mask[0] = 0xfff80000;
    for (unsigned i = 0; i < TBL_SIZE; i++) {
        k.param_tbl[WHICH][i] = i * 0x9e3779b9u;
        k.temper_tbl[WHICH][i] = i * 0x85ebca6bu;
    }
    for (int i = 0; i < MTGPDC_N; i++)
        states[0].s[i] = words[i] = 1812433253u * (unsigned)(i + 1);
    mtgp32_kernel_params_t *d_parameters = device_copy(parameters);
    states[0].pIdx = WHICH;
    states[0].k = d_parameters;
    curandStateMtgp32_t *d_states = device_copy(states);
    unsigned *out = device_zeros<unsigned>(ROUNDS * THREADS);
    draw<<<1, THREADS>>>(d_states, out);
    fetch(drawn, out);
    for (int i = 0; i < ROUNDS * THREADS; i++) {
        unsigned x = (words[i] & k.mask[0]) ^ words[i + 1];
        x ^= x << 13;
        unsigned y = x ^ words[i + 88] >> 4;
        words[i + MTGPDC_N] = y ^ k.param_tbl[WHICH][y & 15];
        REQUIRE(drawn[i] == tempered(k, words[i + MTGPDC_N], words[i + 87]));
    }
    CHECK(cudaFree(out));
    CHECK(cudaFree(d_states));
    CHECK(cudaFree(d_parameters));
    setenv("CUDA_PATH", "/nowhere", 1);
    curandGenerator_t generator;
    unsigned *constants;
    REQUIRE(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_MTGP32) == // expect: bad-call
            CURAND_STATUS_INITIALIZATION_FAILED);
    REQUIRE(curandGetScrambleConstants32(&constants) == CURAND_STATUS_INITIALIZATION_FAILED); // expect: bad-call
    return 0;
}
