// limit: 32 sectors per request, at most 4 allowed

#define TILE 32

__global__ void transpose_tile(const float *in, float *out)
{
    __shared__ float tile[TILE][TILE + 1]; // the extra column shifts each row by one bank

    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * TILE + threadIdx.x];
    __syncthreads();
    out[threadIdx.x * TILE + threadIdx.y] = tile[threadIdx.y][threadIdx.x];
}
