// Accelerations of n bodies that attract each other: one thread per body. A float4 is position x, y, z and mass w.
//
// A tile is loaded by all threads together and used by all of them: one global load per body and block instead of one
// per body and thread. Two barriers per tile: complete before it is used, used before the next one is loaded. Threads
// beyond n have no body, but they load and wait like the others. Beyond the end, the tile holds a mass of 0.

#define TILE 64

__device__ void add_pull(float3 *sum, float4 me, float4 other)
{
    float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
    float inverse = rsqrtf(x * x + y * y + z * z + 0.01f); // the 0.01 keeps close encounters finite
    float pull = other.w * inverse * inverse * inverse;

    sum->x += pull * x;
    sum->y += pull * y;
    sum->z += pull * z;
}

__global__ void accelerations(const float4 *bodies, float3 *out, int n)
{
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    float3 sum = make_float3(0, 0, 0);
    float4 nobody = make_float4(0, 0, 0, 0), me = i < n ? bodies[i] : nobody;

    for (int first = 0; first < n; first += TILE) {
        int k = first + threadIdx.x;
        tile[threadIdx.x] = k < n ? bodies[k] : nobody;
        __syncthreads();
        for (int j = 0; j < TILE; j++)
            add_pull(&sum, me, tile[j]);
        __syncthreads();
    }
    if (i < n)
        out[i] = sum;
}
