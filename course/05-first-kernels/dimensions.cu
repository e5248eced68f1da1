// The same grid of numbers three times: counted in one, two and three dimensions.

#include "cuda_check.h"

// out: (n)
__global__ void number_1d(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i;
}

// out: (height, width), row after row
__global__ void number_2d(int *out, int height, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = y * width + x;
}

// out: (depth, height, width), layer after layer
__global__ void number_3d(int *out, int depth, int height, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < width && y < height && z < depth)
        out[(z * height + y) * width + x] = (z * height + y) * width + x;
}

static int round_up(int count, int per_block)
{
    return (count + per_block - 1) / per_block;
}

enum { DEPTH = 5, HEIGHT = 20, WIDTH = 50, COUNT = DEPTH * HEIGHT * WIDTH };

// Every element must hold its own number. Clears the array for the next kernel.
static void check(const char *name, int *device)
{
    static int host[COUNT];
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemset(device, 0xff, sizeof host));
    for (int i = 0; i < COUNT; i++)
        if (host[i] != i) {
            printf("%s: element %d holds %d\n", name, i, host[i]);
            exit(1);
        }
    printf("%s: all %d elements are correct\n", name, COUNT);
}

int main(void)
{
    int *out;
    CUDA_CHECK(cudaMalloc(&out, COUNT * sizeof(int)));

    number_1d<<<round_up(COUNT, 256), 256>>>(out, COUNT);
    check("1-D", out);

    dim3 block_2d(32, 8);
    dim3 grid_2d(round_up(WIDTH, 32), round_up(DEPTH * HEIGHT, 8));
    number_2d<<<grid_2d, block_2d>>>(out, DEPTH * HEIGHT, WIDTH);
    check("2-D", out);

    dim3 block_3d(32, 4, 2);
    dim3 grid_3d(round_up(WIDTH, 32), round_up(HEIGHT, 4), round_up(DEPTH, 2));
    number_3d<<<grid_3d, block_3d>>>(out, DEPTH, HEIGHT, WIDTH);
    check("3-D", out);

    CUDA_CHECK(cudaFree(out));
    return 0;
}
