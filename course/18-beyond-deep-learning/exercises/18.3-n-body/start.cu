// Accelerations of n bodies that attract each other: one thread per body. A float4 is position x, y, z and mass w.
//
// The result is already correct. Load the bodies in tiles of 64 into shared memory.

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
    int i = blockIdx.x * TILE + threadIdx.x;
    float3 sum = make_float3(0, 0, 0);

    if (i >= n)
        return;
    float4 me = bodies[i];

    // TODO: in tiles: load 64 bodies, one per thread, then let every thread use all of them
    for (int k = 0; k < n; k++)
        add_pull(&sum, me, bodies[k]);
    out[i] = sum;
}
