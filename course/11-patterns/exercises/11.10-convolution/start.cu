// 3 x 3 convolution with a tile in shared memory: blocks of 16 x 16 threads, one thread per output pixel.

#define TILE 16
#define SIDE (TILE + 2) // with one more row and column on each side: the halo

__constant__ float filter[3][3];

__global__ void convolve(const float *in, float *out, int width, int height)
{
    __shared__ float tile[SIDE][SIDE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

    // TODO: fill all of tile. tile[0][0] is the pixel at row blockIdx.y * TILE - 1, column blockIdx.x * TILE - 1
    if (x < width && y < height)
        tile[threadIdx.y + 1][threadIdx.x + 1] = in[y * width + x];
    __syncthreads();

    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            sum += filter[dy][dx] * tile[threadIdx.y + dy][threadIdx.x + dx];
    out[y * width + x] = sum;
}
