// Mandelbrot set: loops whose length differs by thread.
#include "../corpus.h"

__global__ void mandelbrot(unsigned char *image, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float a = -2 + 3.0f * x / width, b = -1 + 2.0f * y / height, re = 0, im = 0;
    int steps = 0;
    while (steps < 50 && re * re + im * im < 4) {
        float next = re * re - im * im + a;
        im = 2 * re * im + b;
        re = next;
        steps++;
    }
    image[y * width + x] = (unsigned char)steps;
}

int main()
{
    unsigned char *image = device_zeros<unsigned char>(60 * 40), result[2400];
    mandelbrot<<<dim3(4, 5), dim3(16, 8)>>>(image, 60, 40);
    CHECK(cudaGetLastError());
    fetch(result, image);
    REQUIRE(result[20 * 60 + 40] == 50 && result[0] == 1);
    CHECK(cudaFree(image));
    return 0;
}
