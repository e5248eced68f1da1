// Objects with virtual functions, made, used and deleted in kernels: the table of functions is nobody's data.
#include "../corpus.h"

struct shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~shape()
    {
    }
};

struct square : shape {
    float side;
    __device__ square(float length) : side(length)
    {
    }
    __device__ float area() const override
    {
        return side * side;
    }
};

struct rectangle : shape {
    float width, height;
    __device__ rectangle(float w, float h) : width(w), height(h)
    {
    }
    __device__ float area() const override
    {
        return width * height;
    }
};

__global__ void make(shape **shapes)
{
    if (threadIdx.x == 0)
        shapes[0] = new square(2);
    else
        shapes[1] = new rectangle(2, 3);
}

__global__ void measure(shape **shapes, float *areas)
{
    areas[threadIdx.x] = shapes[threadIdx.x]->area();
}

__global__ void destroy(shape **shapes)
{
    delete shapes[threadIdx.x];
}

int main()
{
    shape **shapes;
    float *areas = device_zeros<float>(2), result[2];
    CHECK(cudaMalloc((void **)&shapes, 2 * sizeof *shapes));
    make<<<1, 2>>>(shapes);
    measure<<<1, 2>>>(shapes, areas);
    destroy<<<1, 2>>>(shapes);
    CHECK(cudaDeviceSynchronize());
    fetch(result, areas);
    REQUIRE(result[0] == 4 && result[1] == 6);
    CHECK(cudaFree(shapes));
    CHECK(cudaFree(areas));
    return 0;
}
