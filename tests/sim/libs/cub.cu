// CUB: block and warp reductions and scans, and the device-wide calls in their two steps.
#include <cmath>
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

const int ITEMS = 3, TILE = THREADS * ITEMS;

// Sorts in both directions, by pairs, by some of the bits, and to a striped arrangement: five rows of a tile.
template <class Key> __global__ void sorts(const Key *in, Key *out, int *from)
{
    typedef cub::BlockRadixSort<Key, THREADS, ITEMS> Keys;
    typedef cub::BlockRadixSort<Key, THREADS, ITEMS, int> Pairs;
    __shared__ typename Keys::TempStorage keys_storage;
    __shared__ typename Pairs::TempStorage pairs_storage;
    Key keys[5][ITEMS];
    int places[2][ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        places[0][i] = places[1][i] = threadIdx.x * ITEMS + i;
        for (int row = 0; row < 5; row++)
            keys[row][i] = in[threadIdx.x * ITEMS + i];
    }
    Keys(keys_storage).Sort(keys[0]);
    Pairs(pairs_storage).Sort(keys[1], places[0]);
    __syncthreads();
    Keys(keys_storage).SortDescending(keys[2]);
    Pairs(pairs_storage).SortDescending(keys[3], places[1]);
    __syncthreads();
    Keys(keys_storage).SortBlockedToStriped(keys[4]);
    for (int i = 0; i < ITEMS; i++) {
        for (int row = 0; row < 4; row++)
            out[row * TILE + threadIdx.x * ITEMS + i] = keys[row][i];
        out[4 * TILE + threadIdx.x + i * THREADS] = keys[4][i];
        from[threadIdx.x * ITEMS + i] = places[0][i];
        from[TILE + threadIdx.x * ITEMS + i] = places[1][i];
    }
}

__global__ void sort_by_bits(unsigned *keys)
{
    typedef cub::BlockRadixSort<unsigned, THREADS, 1> Keys;
    __shared__ Keys::TempStorage storage;
    unsigned key[1] = {keys[threadIdx.x]};
    Keys(storage).Sort(key, 4, 7);
    keys[threadIdx.x] = key[0];
}

static int failures;

static void expect(const char *what, long got, long wanted)
{
    if (got != wanted && failures++ < 10)
        printf("%s: %ld, not %ld\n", what, got, wanted);
}

template <class Key> static void expect_sorted(const char *what)
{
    Key host[TILE], out[5 * TILE], *d_in, *d_out;
    int from[2 * TILE], *d_from;
    for (int i = 0; i < TILE; i++)
        host[i] = (Key)((i * 61) % 97 - 48);
    cudaMalloc(&d_in, sizeof host);
    cudaMalloc(&d_out, sizeof out);
    cudaMalloc(&d_from, sizeof from);
    cudaMemcpy(d_in, host, sizeof host, cudaMemcpyHostToDevice);
    sorts<<<1, THREADS>>>(d_in, d_out, d_from);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaMemcpy(from, d_from, sizeof from, cudaMemcpyDeviceToHost);
    for (int row = 0; row < 5; row++)
        for (int i = 1; i < TILE; i++) {
            Key a = out[row * TILE + i - 1], b = out[row * TILE + i];
            expect(what, row == 2 || row == 3 ? a >= b : a <= b, 1);
        }
    for (int row = 0; row < 2; row++)
        for (int i = 0; i < TILE; i++) {
            const int *place = from + row * TILE + i;
            expect(what, host[*place] == out[(2 * row + 1) * TILE + i], 1);
            if (i > 0 && host[place[-1]] == host[*place])
                expect("equal keys keep their order", place[-1] < *place, 1);
        }
    cudaFree(d_in);
    cudaFree(d_out);
    cudaFree(d_from);
}

static void expect_sorted_by_bits()
{
    unsigned host[THREADS], out[THREADS], *keys;
    for (int i = 0; i < THREADS; i++)
        host[i] = (unsigned)i * 2654435761u;
    cudaMalloc(&keys, sizeof host);
    cudaMemcpy(keys, host, sizeof host, cudaMemcpyHostToDevice);
    sort_by_bits<<<1, THREADS>>>(keys);
    cudaMemcpy(out, keys, sizeof out, cudaMemcpyDeviceToHost);
    int next = 0;
    for (unsigned digit = 0; digit < 8; digit++)
        for (int i = 0; i < THREADS; i++)
            if ((host[i] >> 4 & 7) == digit)
                expect("by bits", out[next++], host[i]);
    cudaFree(keys);
}

static void expect_runs()
{
    enum { COUNT = 9 };
    const int values[COUNT] = {4, 4, 4, 1, 7, 7, 4, 2, 2}, keys[] = {4, 1, 7, 4, 2}, lengths[] = {3, 1, 2, 1, 2};
    const int starts[] = {0, 4, 7}, long_ones[] = {3, 2, 2};
    int *in, *out, *sizes, *count, host[2 * COUNT + 1];
    void *room = NULL;
    size_t bytes = 0;
    cudaMalloc(&in, sizeof values);
    cudaMalloc(&out, sizeof values);
    cudaMalloc(&sizes, sizeof values);
    cudaMalloc(&count, sizeof(int));
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    cub::DeviceRunLengthEncode::Encode(room, bytes, in, out, sizes, count, (int)COUNT);
    cudaMalloc(&room, bytes);
    cub::DeviceRunLengthEncode::Encode(room, bytes, in, out, sizes, count, (int)COUNT);
    cudaMemcpy(host, count, sizeof(int), cudaMemcpyDeviceToHost);
    expect("runs", host[0], 5);
    cudaMemcpy(host, out, sizeof keys, cudaMemcpyDeviceToHost);
    cudaMemcpy(host + COUNT, sizes, sizeof lengths, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 5; i++) {
        expect("value of a run", host[i], keys[i]);
        expect("length of a run", host[COUNT + i], lengths[i]);
    }
    cub::DeviceRunLengthEncode::NonTrivialRuns(room, bytes, in, out, sizes, count, (int)COUNT);
    cudaMemcpy(host, count, sizeof(int), cudaMemcpyDeviceToHost);
    expect("long runs", host[0], 3);
    cudaMemcpy(host, out, sizeof starts, cudaMemcpyDeviceToHost);
    cudaMemcpy(host + COUNT, sizes, sizeof long_ones, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 3; i++) {
        expect("start of a long run", host[i], starts[i]);
        expect("length of a long run", host[COUNT + i], long_ones[i]);
    }
    cudaFree(room);
    cudaFree(in);
    cudaFree(out);
    cudaFree(sizes);
    cudaFree(count);
}

// A radix sort compares bits: NaN stands behind infinity, or with a sign before -infinity, and zeros are equal.
static void expect_nan_in_its_place()
{
    const float host[] = {NAN, 1, 0.0f, -INFINITY, -NAN, -0.0f, INFINITY, 0.0f};
    const int rising[] = {4, 3, 2, 5, 7, 1, 6, 0}, falling[] = {0, 6, 1, 2, 5, 7, 3, 4};
    const int n = sizeof host / sizeof *host;
    int numbers[n], from[n], *d_from;
    float *d_keys;
    for (int i = 0; i < n; i++)
        numbers[i] = i;
    cudaMalloc(&d_keys, 2 * sizeof host);
    cudaMalloc(&d_from, 2 * sizeof from);
    cudaMemcpy(d_keys, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(d_from, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    for (int direction = 0; direction < 2; direction++) {
        void *room = NULL;
        size_t bytes = 0;
        for (int call = 0; call < 2; call++) {
            if (direction == 0)
                cub::DeviceRadixSort::SortPairs(room, bytes, d_keys, d_keys + n, d_from, d_from + n, n);
            else
                cub::DeviceRadixSort::SortPairsDescending(room, bytes, d_keys, d_keys + n, d_from, d_from + n, n);
            if (call == 0)
                cudaMalloc(&room, bytes);
        }
        cudaMemcpy(from, d_from + n, sizeof from, cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++)
            expect("place of NaN", from[i], direction == 0 ? rising[i] : falling[i]);
        cudaFree(room);
    }
    cudaFree(d_keys);
    cudaFree(d_from);
}

int main()
{
    expect_runs();
    expect_nan_in_its_place();
    expect_sorted<int>("sort of ints");
    expect_sorted<float>("sort of floats");
    expect_sorted<signed char>("sort of bytes");
    expect_sorted<unsigned long long>("sort of words");
    expect_sorted_by_bits();
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
