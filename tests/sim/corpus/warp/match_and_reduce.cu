// __match_any_sync, __match_all_sync and the __reduce family.
#include "../corpus.h"

__global__ void collect(unsigned *output)
{
    unsigned lane = threadIdx.x, all = 0xffffffffu;
    int predicate;
    output[lane] = __match_any_sync(all, lane / 4);
    output[32 + lane] = __match_all_sync(all, 5, &predicate) == all && predicate;
    output[64 + lane] = __reduce_add_sync(all, lane);
    output[96 + lane] = __reduce_max_sync(all, lane) * 100 + __reduce_min_sync(all, lane + 1);
    output[128 + lane] = __reduce_xor_sync(all, 1u << lane) == all && __reduce_and_sync(all, lane | 64) == 64;
    output[160 + lane] = __reduce_or_sync(0xffu << lane / 8 * 8, 1u << lane % 8);
    output[192 + lane] = (unsigned)(__reduce_min_sync(all, -(int)lane) + __reduce_max_sync(all, (int)lane - 40));
}

int main()
{
    unsigned *output = device_zeros<unsigned>(224), r[224];
    collect<<<1, 32>>>(output);
    CHECK(cudaGetLastError());
    fetch(r, output);
    for (unsigned l = 0; l < 32; l++) {
        REQUIRE(r[l] == 0xfu << l / 4 * 4 && r[32 + l] == 1 && r[64 + l] == 496 && r[96 + l] == 3101);
        REQUIRE(r[128 + l] == 1 && r[160 + l] == 255 && (int)r[192 + l] == -31 - 9);
    }
    CHECK(cudaFree(output));
    return 0;
}
