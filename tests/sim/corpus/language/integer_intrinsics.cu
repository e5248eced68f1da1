// Integer intrinsics.
#include "../corpus.h"

__global__ void work(long long *r)
{
    r[0] = __popc(0xf0f0u) + __popcll(~0ull);
    r[1] = __clz(1) * 100 + __clzll(1ll);
    r[2] = __ffs(8) * 100 + __ffs(0);
    r[3] = __brev(1u) == 0x80000000u;
    r[4] = __byte_perm(0x33221100, 0x77665544, 0x7410);
    r[5] = __mulhi(0x40000000, 8) * 100 + __umulhi(0x80000000u, 6);
    r[6] = __mul24(1000, 1000) + __sad(3, 10, 5);
    r[7] = __funnelshift_l(0x80000000u, 1u, 1);
    r[8] = __dp4a(0x01020304, 0x01010101, 5);
    r[9] = __umul64hi(1ull << 63, 4) + __ffsll(1ll << 40);
    r[10] = min(3, -2) + max(4u, 5u) + abs(-7);
    r[11] = __hadd(5, 8) + __rhadd(5, 8) + __vadd4(0x01010101, 0x01010101);
}

int main()
{
    long long *output = device_zeros<long long>(12), r[12];
    work<<<1, 1>>>(output);
    CHECK(cudaGetLastError());
    fetch(r, output);
    REQUIRE(r[0] == 8 + 64 && r[1] == 3163 && r[2] == 400 && r[3] == 1);
    REQUIRE(r[4] == 0x77441100 && r[5] == 203 && r[6] == 1000012 && r[7] == 3);
    REQUIRE(r[8] == 15 && r[9] == 2 + 41 && r[10] == -2 + 5 + 7 && r[11] == 6 + 7 + 0x02020202);
    CHECK(cudaFree(output));
    return 0;
}
