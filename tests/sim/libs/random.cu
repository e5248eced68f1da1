// cuRAND's device API: Philox and XORWOW give cuRAND's own numbers, which were noted from a GPU; the distributions
// hold.
#include <cmath>
#include <cstdio>
#include <curand_kernel.h>

enum { THREADS = 4, DRAWS = 6, SAMPLES = 4000 };

__global__ void draw(unsigned *philox, unsigned *xorwow, float *uniform)
{
    curandStatePhilox4_32_10_t p;
    curandStateXORWOW_t x;
    curand_init(1234ULL, threadIdx.x, 3, &p);
    curand_init(1234ULL, threadIdx.x * 1000003ULL, 17, &x);
    for (int i = 0; i < DRAWS; i++) {
        philox[threadIdx.x * DRAWS + i] = curand(&p);
        xorwow[threadIdx.x * DRAWS + i] = curand(&x);
    }
    uniform[threadIdx.x] = curand_uniform(&x);
}

__global__ void sample(float *normal, unsigned *poisson)
{
    curandState state;
    curand_init(7, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
    normal[blockIdx.x * blockDim.x + threadIdx.x] = curand_normal(&state);
    poisson[blockIdx.x * blockDim.x + threadIdx.x] = curand_poisson(&state, 4.0);
}

#include "random_noted.h"

static int failures;

static void expect(const char *what, double got, double wanted, double tolerance)
{
    if (!(std::fabs(got - wanted) <= tolerance) && failures++ < 10)
        printf("%s: %.9g, not %.9g\n", what, got, wanted);
}

int main()
{
    unsigned *philox, *xorwow, host_philox[THREADS * DRAWS], host_xorwow[THREADS * DRAWS];
    float *uniform, host_uniform[THREADS];
    cudaMalloc(&philox, sizeof host_philox);
    cudaMalloc(&xorwow, sizeof host_xorwow);
    cudaMalloc(&uniform, sizeof host_uniform);
    draw<<<1, THREADS>>>(philox, xorwow, uniform);
    cudaMemcpy(host_philox, philox, sizeof host_philox, cudaMemcpyDeviceToHost);
    cudaMemcpy(host_xorwow, xorwow, sizeof host_xorwow, cudaMemcpyDeviceToHost);
    cudaMemcpy(host_uniform, uniform, sizeof host_uniform, cudaMemcpyDeviceToHost);
    for (int i = 0; i < THREADS * DRAWS; i++) {
        expect("philox", host_philox[i], noted_philox[i], 0);
        expect("xorwow", host_xorwow[i], noted_xorwow[i], 0);
    }
    for (int i = 0; i < THREADS; i++)
        expect("uniform", (double)host_uniform[i], noted_uniform[i], 0);

    float *normal, *host_normal = new float[SAMPLES];
    unsigned *poisson, *host_poisson = new unsigned[SAMPLES];
    cudaMalloc(&normal, SAMPLES * sizeof(float));
    cudaMalloc(&poisson, SAMPLES * sizeof(unsigned));
    sample<<<SAMPLES / 100, 100>>>(normal, poisson);
    cudaMemcpy(host_normal, normal, SAMPLES * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_poisson, poisson, SAMPLES * sizeof(unsigned), cudaMemcpyDeviceToHost);
    double mean = 0, square = 0, events = 0;
    for (int i = 0; i < SAMPLES; i++) {
        mean += (double)host_normal[i] / SAMPLES;
        square += (double)host_normal[i] * (double)host_normal[i] / SAMPLES;
        events += host_poisson[i] / (double)SAMPLES;
    }
    expect("mean of normal values", mean, 0, 0.08);
    expect("variance of normal values", square, 1, 0.12);
    expect("mean of Poisson values", events, 4, 0.16);
    delete[] host_normal;
    delete[] host_poisson;
    cudaFree(philox);
    cudaFree(xorwow);
    cudaFree(uniform);
    cudaFree(normal);
    cudaFree(poisson);
    return failures != 0;
}
