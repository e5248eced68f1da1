// A product of matrices whose tiles come by asynchronous copies of four floats, in four stages, with a barrier a round.
#include "../corpus.h"
#include <cuda/barrier>
#include <cuda/pipeline>

const int TILE = 16, STAGES = 4, N = 96;

__global__ void product(const float *a, const float *b, float *c)
{
    alignas(16) __shared__ float tile_a[STAGES][TILE][TILE], tile_b[STAGES][TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x, x4 = 4 * threadIdx.x;
    const auto four = cuda::aligned_size_t<alignof(float4)>(sizeof(float4));
    auto pipe = cuda::make_pipeline();
    float sum = 0;
    for (int round = 0, next = 0; round < N / TILE; round++) {
        for (; next < round + STAGES; next++) {
            pipe.producer_acquire();
            if (next < N / TILE && x4 < TILE) {
                int stage = next % STAGES, y = threadIdx.y;
                cuda::memcpy_async(&tile_a[stage][y][x4], &a[row * N + next * TILE + x4], four, pipe);
                cuda::memcpy_async(&tile_b[stage][y][x4], &b[(next * TILE + y) * N + blockIdx.x * TILE + x4], four,
                                   pipe);
            }
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += tile_a[round % STAGES][threadIdx.y][k] * tile_b[round % STAGES][k][threadIdx.x];
        __syncthreads();
        pipe.consumer_release();
    }
    c[row * N + column] = sum;
}

int main()
{
    static float host[N * N];
    float *a = device_ramp<float>(N * N, 1, 0), *b = device_ramp<float>(N * N, 2, 0), *c = device_zeros<float>(N * N);
    product<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(a, b, c);
    CHECK(cudaGetLastError());
    fetch(host, c);
    for (int i = 0; i < N * N; i++)
        REQUIRE(host[i] == 2 * N);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    return 0;
}
