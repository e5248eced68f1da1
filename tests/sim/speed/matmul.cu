// Products of two 512 x 512 matrices on the simulated GPU, naive and through tiles in shared memory: prints a kernel's
// name, its best time in seconds, and one element of its result a line. scripts/bench-sim runs it.

#include <chrono>
#include <cstdio>
#include <cstdlib>

enum { N = 512, TILE = 16, RUNS = 3 };

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error_ = (call);                                                                                   \
        if (error_ != cudaSuccess) {                                                                                   \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                                            \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

// a, b, c: (n, n), row-major. A thread an element.
__global__ void naive(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || col >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

// A block a tile of c; the tiles of a and b it needs pass through shared memory.
__global__ void tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + col];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

typedef void kernel(const float *, const float *, float *, int);

static double seconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void measure(const char *name, kernel *which, const float *a, const float *b, float *c)
{
    double best = 1e9;
    dim3 block(TILE, TILE), grid(N / TILE, N / TILE);
    for (int run = 0; run < RUNS; run++) {
        double start = seconds();
        which<<<grid, block>>>(a, b, c, N);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        double took = seconds() - start;
        best = took < best ? took : best;
    }
    float element;
    CHECK(cudaMemcpy(&element, c + N + 7, sizeof element, cudaMemcpyDeviceToHost));
    printf("%s %.6f %g\n", name, best, element);
}

int main()
{
    const size_t bytes = sizeof(float) * N * N;
    float *host = (float *)malloc(2 * bytes), *a, *b, *c;
    if (!host)
        return 1;
    for (int i = 0; i < 2 * N * N; i++)
        host[i] = (float)(i % 7);
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMalloc(&c, bytes));
    CHECK(cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, host + N * N, bytes, cudaMemcpyHostToDevice));
    measure("naive", naive, a, b, c);
    measure("tiled", tiled, a, b, c);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    free(host);
    return 0;
}
