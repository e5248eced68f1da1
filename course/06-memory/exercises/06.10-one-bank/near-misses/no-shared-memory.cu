// limit: 32 sectors per request, at most 4 allowed

#define TILE 32

__global__ void transpose_tile(const float *in, float *out)
{
    out[threadIdx.x * TILE + threadIdx.y] = in[threadIdx.y * TILE + threadIdx.x];
}
