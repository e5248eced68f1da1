// CUB's reductions of segments of which the last ends behind the input; the storage of a block's flags used again
// without a barrier.
#include "../corpus.h"
#include <cub/cub.cuh>

enum { COUNT = 128, SEGMENTS = 2, THREADS = 64 };
typedef cub::BlockDiscontinuity<int, THREADS> Runs;

__global__ void flag(const int *from, int *to)
{
    __shared__ Runs::TempStorage storage;
    int item[1] = {from[threadIdx.x]}, heads[1], tails[1];
    Runs(storage).FlagHeads(heads, item, cub::Inequality()); // expect: race a
    item[0] += heads[0];
    Runs(storage).FlagHeads(tails, item, cub::Inequality()); // expect: race a
    to[threadIdx.x] = heads[0] + tails[0];
}

int main()
{
    const int offsets[SEGMENTS + 1] = {0, 32, COUNT + 1};
    int *numbers = device_ramp<int>(COUNT, 0, 1), *starts = device_copy(offsets), *out = device_zeros<int>(COUNT);
    char *room = device_zeros<char>(1);
    size_t bytes = 1;
    flag<<<1, THREADS>>>(numbers, out);
    SHOW(cudaDeviceSynchronize());
    const int *ends = starts + 1;
    SHOW(cub::DeviceSegmentedReduce::Sum(room, bytes, numbers, out, 2, starts, ends)); // expect: out-of-bounds
    SHOW(cudaDeviceSynchronize());
    cudaFree(room);
    cudaFree(numbers);
    cudaFree(starts);
    cudaFree(out);
    return 0;
}
