// Threads write different members of the same struct: no race.
#include "../corpus.h"

struct particle {
    float x;
    short kind;
    char flag, other;
    double mass;
};

__global__ void fill(particle *output)
{
    __shared__ particle p;
    switch (threadIdx.x) {
    case 0: p.x = 1; break;
    case 1: p.kind = 2; break;
    case 2: p.flag = 3; break;
    case 3: p.other = 4; break;
    case 4: p.mass = 5; break;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *output = p;
}

int main()
{
    particle *output = device_zeros<particle>(1), result[1];
    fill<<<1, 32>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0].x == 1 && result[0].kind == 2 && result[0].flag == 3 && result[0].other == 4 &&
            result[0].mass == 5);
    CHECK(cudaFree(output));
    return 0;
}
