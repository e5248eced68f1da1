// Launches a block of 64 x 32 threads and checks nothing. It ends happily; the kernel never ran.

#include <cstdio>

__global__ void fill(float *image, int width)
{
    image[threadIdx.y * width + threadIdx.x] = 1;
}

int main(void)
{
    enum { WIDTH = 64, HEIGHT = 32 };
    static float image[WIDTH * HEIGHT];
    float *device_image;
    cudaMalloc(&device_image, sizeof image);
    cudaMemset(device_image, 0, sizeof image);
    fill<<<1, dim3(WIDTH, HEIGHT)>>>(device_image, WIDTH);
    cudaMemcpy(image, device_image, sizeof image, cudaMemcpyDeviceToHost);
    printf("image[0] = %g\n", image[0]);
    cudaFree(device_image);
    return 0;
}
