// CUB: block and warp reductions and scans, and the device-wide calls in their two steps.
#include <cstdio>
#include <cub/cub.cuh>

const int THREADS = 128, BLOCKS = 3, N = THREADS * BLOCKS;

__global__ void collectives(const int *in, int *sums, int *scans, int *warp_sums)
{
    typedef cub::BlockReduce<int, THREADS> Reduce;
    typedef cub::BlockScan<int, THREADS> Scan;
    typedef cub::WarpReduce<int> Warp;
    __shared__ typename Reduce::TempStorage reduce_storage;
    __shared__ typename Scan::TempStorage scan_storage;
    __shared__ typename Warp::TempStorage warp_storage[THREADS / 32];
    int i = blockIdx.x * THREADS + threadIdx.x, prefix;
    int sum = Reduce(reduce_storage).Sum(in[i]);
    Scan(scan_storage).ExclusiveSum(in[i], prefix);
    int of_warp = Warp(warp_storage[threadIdx.x / 32]).Sum(in[i]);
    scans[i] = prefix;
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
    if (threadIdx.x % 32 == 0)
        warp_sums[i / 32] = of_warp;
}

static int failures;

static void expect(const char *what, long got, long wanted)
{
    if (got != wanted && failures++ < 10)
        printf("%s: %ld, not %ld\n", what, got, wanted);
}

int main()
{
    int host[N], sums[BLOCKS], scans[N], warps[N / 32], sorted[N], total = 0, *in, *out, *d_sums, *d_warps;
    for (int i = 0; i < N; i++)
        host[i] = (i * 61) % N;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&d_sums, sizeof sums);
    cudaMalloc(&d_warps, sizeof warps);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    collectives<<<BLOCKS, THREADS>>>(in, d_sums, out, d_warps);
    cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost);
    cudaMemcpy(scans, out, sizeof scans, cudaMemcpyDeviceToHost);
    cudaMemcpy(warps, d_warps, sizeof warps, cudaMemcpyDeviceToHost);
    for (int block = 0, i = 0; block < BLOCKS; block++) {
        int sum = 0, warp_sum = 0;
        for (int t = 0; t < THREADS; t++, i++) {
            expect("scan", scans[i], sum);
            sum += host[i];
            warp_sum += host[i];
            if (t % 32 == 31) {
                expect("warp sum", warps[i / 32], warp_sum);
                warp_sum = 0;
            }
        }
        expect("block sum", sums[block], sum);
        total += sum;
    }

    void *room = NULL;
    size_t bytes = 0;
    cub::DeviceReduce::Sum(room, bytes, in, d_sums, N);
    cudaMalloc(&room, bytes);
    cub::DeviceReduce::Sum(room, bytes, in, d_sums, N);
    cudaMemcpy(sums, d_sums, sizeof(int), cudaMemcpyDeviceToHost);
    expect("device sum", sums[0], total);
    cudaFree(room);
    room = NULL;
    cub::DeviceRadixSort::SortKeys(room, bytes, in, out, N);
    cudaMalloc(&room, bytes);
    cub::DeviceRadixSort::SortKeys(room, bytes, in, out, N);
    cudaMemcpy(sorted, out, sizeof sorted, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++)
        expect("sorted", sorted[i], i);
    cudaFree(room);
    cudaFree(in);
    cudaFree(out);
    cudaFree(d_sums);
    cudaFree(d_warps);
    return failures != 0;
}
