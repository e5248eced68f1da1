// All votes, with full and partial masks.
#include "../corpus.h"

__global__ void vote(unsigned *output)
{
    unsigned lane = threadIdx.x, all = 0xffffffffu;
    output[lane] = __ballot_sync(all, lane % 3 == 0);
    output[32 + lane] = __all_sync(all, lane < 32) && !__all_sync(all, lane < 31);
    output[64 + lane] = __any_sync(all, lane == 17) && !__any_sync(all, lane == 32);
    unsigned odd = 0xaaaaaaaau;
    if (lane % 2)
        output[96 + lane] = __ballot_sync(odd, lane > 15);
    else
        output[96 + lane] = __ballot_sync(~odd, lane > 15);
}

int main()
{
    unsigned *output = device_zeros<unsigned>(128), r[128], thirds = 0;
    vote<<<1, 32>>>(output);
    CHECK(cudaGetLastError());
    fetch(r, output);
    for (int l = 0; l < 32; l += 3)
        thirds |= 1u << l;
    for (int l = 0; l < 32; l++)
        REQUIRE(r[l] == thirds && r[32 + l] == 1 && r[64 + l] == 1 && r[96 + l] == (l % 2 ? 0xaaaa0000u : 0x55550000u));
    CHECK(cudaFree(output));
    return 0;
}
