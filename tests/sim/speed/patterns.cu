// How fast accesses of one pattern are watched: prints a pattern's name and its best rate, in million accesses per
// second of processor time, one per line. Processor time, because other programs do not change it much.
// scripts/bench-sim runs it.

#include <cstdio>
#include <cstdlib>
#include <ctime>

enum { N = 1024, THREADS = 256, BLOCKS = 64, ROUNDS = 256, TURNS = 4, TILE = 32, HALF = 16, RUNS = 3 };

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error_ = (call);                                                                                   \
        if (error_ != cudaSuccess) {                                                                                   \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                                            \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

// from, to: (N, N), row-major.
__global__ void consecutive(const float *from, float *to)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < ROUNDS; k++)
        sum += from[(i + k * THREADS) % (N * N)];
    to[i] = sum;
}

__global__ void broadcast(const float *from, float *to)
{
    float sum = 0;
    for (int k = 0; k < ROUNDS; k++)
        sum += from[k];
    to[blockIdx.x * THREADS + threadIdx.x] = sum;
}

__global__ void read_columns(const float *from, float *to)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < ROUNDS; k++)
        sum += from[i % N * N + k];
    to[i] = sum;
}

// Blocks that have the same rows write different columns of them.
__global__ void write_columns(const float *, float *to)
{
    enum { COLUMNS = N / (BLOCKS * THREADS / N) };
    int i = blockIdx.x * THREADS + threadIdx.x;
    for (int k = 0; k < ROUNDS; k++)
        to[i % N * N + i / N * COLUMNS + k % COLUMNS] = (float)k;
}

__global__ void shared_columns(const float *, float *to)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    float sum = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        for (int row = y; row < TILE; row += THREADS / TILE)
            tile[row][x] = (float)row;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += tile[x][k];
        __syncthreads();
    }
    to[blockIdx.x * THREADS + threadIdx.x] = sum;
}

// As a product of tiles reads them: one half of a warp another row than the other.
__global__ void shared_halves(const float *, float *to)
{
    __shared__ float tile[HALF][HALF];
    int x = threadIdx.x % HALF, y = threadIdx.x / HALF;
    float sum = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        tile[y][x] = (float)turn;
        __syncthreads();
        for (int k = 0; k < HALF; k++)
            sum += tile[k][x] * tile[y][k];
        __syncthreads();
    }
    to[blockIdx.x * THREADS + threadIdx.x] = sum;
}

typedef void pattern(const float *, float *);

static double processor_seconds()
{
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// accesses: of one thread.
static void measure(const char *name, pattern *which, int accesses, const float *from, float *to)
{
    double best = 1e9;
    for (int run = 0; run < RUNS; run++) {
        double start = processor_seconds();
        which<<<BLOCKS, THREADS>>>(from, to);
        CHECK(cudaDeviceSynchronize());
        double took = processor_seconds() - start;
        best = took < best ? took : best;
    }
    printf("%s %.0f\n", name, 1e-6 * accesses * BLOCKS * THREADS / best);
}

int main()
{
    float *from, *to;
    CHECK(cudaMalloc(&from, N * N * sizeof(float)));
    CHECK(cudaMalloc(&to, N * N * sizeof(float)));
    CHECK(cudaMemset(from, 0, N * N * sizeof(float)));
    measure("consecutive", consecutive, ROUNDS + 1, from, to);
    measure("broadcast", broadcast, ROUNDS + 1, from, to);
    measure("read_columns", read_columns, ROUNDS + 1, from, to);
    measure("write_columns", write_columns, ROUNDS, from, to);
    measure("shared_columns", shared_columns, TURNS * (TILE / (THREADS / TILE) + TILE) + 1, from, to);
    measure("shared_halves", shared_halves, TURNS * (1 + 2 * HALF) + 1, from, to);
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    return 0;
}
