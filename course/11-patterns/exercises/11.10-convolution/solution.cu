// 3 x 3 convolution with a tile in shared memory: blocks of 16 x 16 threads, one thread per output pixel.
//
// The tile with its halo has 324 pixels, the block 256 threads. So the threads walk over the tile with a stride, and
// each pixel of it is loaded once, or set to 0 where it lies outside the image. Nobody returns before the barrier.

#define TILE 16
#define SIDE (TILE + 2) // with one more row and column on each side: the halo

__constant__ float filter[3][3];

__global__ void convolve(const float *in, float *out, int width, int height)
{
    __shared__ float tile[SIDE][SIDE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

    for (int i = threadIdx.y * TILE + threadIdx.x; i < SIDE * SIDE; i += TILE * TILE) {
        int column = blockIdx.x * TILE + i % SIDE - 1, row = blockIdx.y * TILE + i / SIDE - 1;
        bool inside = column >= 0 && column < width && row >= 0 && row < height;
        tile[i / SIDE][i % SIDE] = inside ? in[row * width + column] : 0;
    }
    __syncthreads();

    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            sum += filter[dy][dx] * tile[threadIdx.y + dy][threadIdx.x + dx];
    out[y * width + x] = sum;
}
