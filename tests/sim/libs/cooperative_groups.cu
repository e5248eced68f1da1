// Cooperative groups: ranks, sizes, shuffles, votes, partitions, reductions and scans give what CUDA's rules say.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>

namespace cg = cooperative_groups;

enum { THREADS = 96, RESULTS = 24 };

__global__ void groups(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    auto tile = cg::tiled_partition<4>(warp);
    int rank = block.thread_rank();
    int *mine = out + rank * RESULTS;

    mine[0] = block.size();
    mine[1] = warp.thread_rank();
    mine[2] = warp.meta_group_rank();
    mine[3] = tile.thread_rank();
    mine[4] = tile.meta_group_rank();
    mine[5] = tile.meta_group_size();
    mine[6] = warp.shfl(rank, 5);
    mine[7] = tile.shfl_down(rank, 1);
    mine[8] = tile.shfl_xor(rank, 3);
    mine[9] = warp.ballot(rank % 2);
    mine[10] = tile.ballot(tile.thread_rank() == 2);
    mine[11] = tile.any(tile.thread_rank() == 3);
    mine[12] = warp.all(rank < 64);
    mine[13] = cg::reduce(warp, rank, cg::plus<int>());
    mine[14] = cg::reduce(tile, rank, cg::greater<int>());
    mine[15] = cg::inclusive_scan(tile, 1);
    mine[16] = cg::exclusive_scan(warp, rank, [](int a, int b) { return a > b ? a : b; });
    if (rank % 3 == 0) {
        cg::coalesced_group few = cg::coalesced_threads();
        mine[17] = few.size();
        mine[18] = few.thread_rank();
        mine[19] = few.shfl(rank, 0);
        mine[20] = cg::reduce(few, 1, cg::plus<int>());
    }
    auto same = cg::labeled_partition(warp, rank % 5);
    mine[21] = same.size();
    mine[22] = same.meta_group_rank();
    mine[23] = cg::binary_partition(warp, rank % 32 < 7).size();
    cg::sync(block);
}

__global__ void grid_sum(const int *in, int *sums, int *total)
{
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    __shared__ int sum;
    if (block.thread_rank() == 0)
        sum = 0;
    block.sync();
    atomicAdd(&sum, in[grid.thread_rank()]);
    block.sync();
    if (block.thread_rank() == 0)
        sums[blockIdx.x] = sum;
    grid.sync();
    if (grid.thread_rank() == 0) {
        *total = 0;
        for (unsigned i = 0; i < gridDim.x; i++)
            *total += sums[i];
    }
}

static int failures;

static void expect(int thread, int what, int got, int wanted)
{
    if (got != wanted && failures++ < 10)
        printf("thread %d, result %d: %d, not %d\n", thread, what, got, wanted);
}

static void check(const int *out, int t)
{
    const int *mine = out + t * RESULTS;
    int lane = t % 32, warp = t / 32, most = 0;
    for (int i = warp * 32; i < t; i++)
        most = i;
    int wanted[RESULTS] = {
        THREADS,         lane, warp, t % 4,    lane / 4,          8,     warp * 32 + 5, t % 4 == 3 ? t : t + 1, t ^ 3,
        (int)0xaaaaaaaa, 4,    1,    warp < 2, warp * 1024 + 496, t | 3, t % 4 + 1,     lane ? most : 0};
    for (int i = 0; i < 17; i++)
        expect(t, i, mine[i], wanted[i]);
    if (t % 3 == 0) {
        int first = (warp * 32 + 2) / 3 * 3, size = (warp * 32 + 31 - first) / 3 + 1;
        expect(t, 17, mine[17], size);
        expect(t, 18, mine[18], (t - first) / 3);
        expect(t, 19, mine[19], first);
        expect(t, 20, mine[20], size);
    }
    int same = 0;
    for (int i = 0; i < 32; i++)
        same += (warp * 32 + i) % 5 == t % 5;
    expect(t, 21, mine[21], same);
    expect(t, 22, mine[22], ((t % 5) - (warp * 32) % 5 + 5) % 5);
    expect(t, 23, mine[23], lane < 7 ? 7 : 25);
}

int main()
{
    int *out, host[THREADS * RESULTS];
    cudaMalloc(&out, sizeof host);
    cudaMemset(out, 0, sizeof host);
    groups<<<1, THREADS>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int t = 0; t < THREADS; t++)
        check(host, t);

    enum { BLOCKS = 4, BLOCK = 64 };
    int values[BLOCKS * BLOCK], *in, *sums, *total, sum = 0;
    for (int i = 0; i < BLOCKS * BLOCK; i++)
        values[i] = i;
    cudaMalloc(&in, sizeof values);
    cudaMalloc(&sums, BLOCKS * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    void *arguments[] = {&in, &sums, &total};
    cudaLaunchCooperativeKernel((void *)grid_sum, dim3(BLOCKS), dim3(BLOCK), arguments, 0, 0);
    cudaMemcpy(&sum, total, sizeof sum, cudaMemcpyDeviceToHost);
    expect(-1, 0, sum, BLOCKS * BLOCK * (BLOCKS * BLOCK - 1) / 2);
    cudaFree(out);
    cudaFree(in);
    cudaFree(sums);
    cudaFree(total);
    return failures != 0;
}
