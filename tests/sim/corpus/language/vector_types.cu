// Vector types, their constructors and their alignment.
#include "../corpus.h"

__global__ void mix(float4 *four, int3 *three, uchar4 *bytes, double2 *two)
{
    int t = threadIdx.x;
    float4 f = four[t];
    three[t] = make_int3((int)f.x, (int)f.y, (int)f.z);
    bytes[t] = make_uchar4((unsigned char)f.x, 1, 2, 3);
    two[t] = make_double2(f.w, bytes[t].x + bytes[t].w);
}

int main()
{
    static_assert(sizeof(float4) == 16 && alignof(float4) == 16 && sizeof(int3) == 12 && alignof(uchar4) == 4, "sizes");
    float4 host[16];
    int3 three[16];
    double2 two[16];
    for (int i = 0; i < 16; i++)
        host[i] = make_float4((float)i, i + 1.0f, i + 2.0f, i + 3.0f);
    float4 *a = device_copy(host);
    int3 *b = NULL;
    uchar4 *c = NULL;
    double2 *d = NULL;
    CHECK(cudaMalloc(&b, sizeof three));
    CHECK(cudaMalloc(&c, 16 * sizeof(uchar4)));
    CHECK(cudaMalloc(&d, sizeof two));
    mix<<<1, 16>>>(a, b, c, d);
    CHECK(cudaGetLastError());
    fetch(three, b);
    fetch(two, d);
    for (int i = 0; i < 16; i++)
        REQUIRE(three[i].z == i + 2 && two[i].x == i + 3 && two[i].y == i + 3);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    CHECK(cudaFree(d));
    return 0;
}
