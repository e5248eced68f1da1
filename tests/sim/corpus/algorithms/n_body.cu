// n-body step with tiles of bodies in shared memory.
#include "../corpus.h"

__global__ void forces(const float4 *bodies, float3 *result, int n)
{
    __shared__ float4 tile[32];
    int i = blockIdx.x * 32 + threadIdx.x;
    float4 me = bodies[i];
    float3 force = make_float3(0, 0, 0);
    for (int first = 0; first < n; first += 32) {
        tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            float x = tile[j].x - me.x, y = tile[j].y - me.y, z = tile[j].z - me.z;
            float inverse = rsqrtf(x * x + y * y + z * z + 0.01f), s = tile[j].w * inverse * inverse * inverse;
            force.x += x * s;
            force.y += y * s;
            force.z += z * s;
        }
        __syncthreads();
    }
    result[i] = force;
}

int main()
{
    float4 host[64];
    for (int i = 0; i < 64; i++)
        host[i] = make_float4((float)(i % 4), (float)(i / 4 % 4), (float)(i / 16), 1.0f);
    float4 *bodies = device_copy(host);
    float3 *result = NULL, forces_host[64];
    CHECK(cudaMalloc(&result, sizeof forces_host));
    forces<<<2, 32>>>(bodies, result, 64);
    CHECK(cudaGetLastError());
    fetch(forces_host, result);
    // The lattice is symmetric: opposite corners are pulled in opposite directions.
    float sum = forces_host[0].x + forces_host[63].x;
    REQUIRE(forces_host[0].x > 1 && sum > -1e-2f && sum < 1e-2f);
    CHECK(cudaFree(bodies));
    CHECK(cudaFree(result));
    return 0;
}
