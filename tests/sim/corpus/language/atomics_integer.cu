// Every integer atomic, 32 and 64 bits, in global and shared memory.
#include "../corpus.h"

__global__ void work(int *i, unsigned *u, unsigned long long *l)
{
    __shared__ int s;
    int t = threadIdx.x;
    if (t == 0)
        s = 0;
    __syncthreads();
    atomicAdd(&i[0], t);
    atomicSub(&i[1], t);
    atomicMin(&i[2], -t);
    atomicMax(&i[3], t);
    atomicExch(&i[4], 7);
    atomicCAS(&i[5], 0, 9);
    atomicAnd(&i[6], ~(1 << (t % 8)));
    atomicOr(&u[0], 1u << t);
    atomicXor(&u[1], 1u << t);
    atomicInc(&u[2], 9);
    atomicDec(&u[3], 9);
    atomicMax(&u[4], (unsigned)t);
    atomicAdd(&l[0], (unsigned long long)t << 33);
    atomicMax(&l[1], (unsigned long long)t << 33);
    atomicCAS(&l[2], 0ull, 1ull << 50);
    atomicOr(&l[3], 1ull << (t + 30));
    atomicAdd(&s, 1);
    __syncthreads();
    if (t == 0)
        i[7] = s;
}

int main()
{
    int *i = device_zeros<int>(8), a[8], minus_one = -1;
    unsigned *u = device_zeros<unsigned>(8), b[8];
    unsigned long long *l = device_zeros<unsigned long long>(4), c[4];
    CHECK(cudaMemcpy(&i[6], &minus_one, sizeof minus_one, cudaMemcpyHostToDevice));
    work<<<1, 32>>>(i, u, l);
    CHECK(cudaGetLastError());
    fetch(a, i);
    fetch(b, u);
    fetch(c, l);
    REQUIRE(a[0] == 496 && a[1] == -496 && a[2] == -31 && a[3] == 31 && a[4] == 7 && a[5] == 9 && a[6] == ~255 &&
            a[7] == 32);
    REQUIRE(b[0] == ~0u && b[1] == ~0u && b[2] == 2 && b[3] == 8 && b[4] == 31);
    REQUIRE(c[0] == 496ull << 33 && c[1] == 31ull << 33 && c[2] == 1ull << 50 && c[3] == 0xffffffffull << 30);
    CHECK(cudaFree(i));
    CHECK(cudaFree(u));
    CHECK(cudaFree(l));
    return 0;
}
