// Classes with constructors, operators, inheritance and virtual calls in device code.
#include "../corpus.h"

struct complex {
    float re, im;
    __host__ __device__ complex(float re = 0, float im = 0) : re(re), im(im)
    {
    }
    __host__ __device__ complex operator*(const complex &o) const
    {
        return complex(re * o.re - im * o.im, re * o.im + im * o.re);
    }
};

struct shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~shape()
    {
    }
};

struct square : shape {
    float side;
    __device__ explicit square(float side) : side(side)
    {
    }
    __device__ float area() const override
    {
        return side * side;
    }
};

struct circle : shape {
    float radius;
    __device__ explicit circle(float radius) : radius(radius)
    {
    }
    __device__ float area() const override
    {
        return 3 * radius * radius;
    }
};

__global__ void work(complex *products, float *areas)
{
    int t = threadIdx.x;
    products[t] = complex((float)t, 1) * complex(2, (float)t);
    square s((float)t);
    circle c((float)t);
    const shape &chosen = t % 2 ? (const shape &)s : (const shape &)c;
    areas[t] = chosen.area();
}

int main()
{
    complex *products = NULL, p[16];
    float *areas = device_zeros<float>(16), a[16];
    CHECK(cudaMalloc(&products, sizeof p));
    work<<<1, 16>>>(products, areas);
    CHECK(cudaGetLastError());
    fetch(p, products);
    fetch(a, areas);
    for (int t = 0; t < 16; t++)
        REQUIRE(p[t].re == t && p[t].im == t * t + 2 && a[t] == (t % 2 ? t * t : 3 * t * t));
    CHECK(cudaFree(products));
    CHECK(cudaFree(areas));
    return 0;
}
