// Whatever else looks like a division, or is one of other types, stays what it was: bit-fields, objects, floats,
// constants that the compiler needs, macros that the preprocessor computes with. The smallest number by -1 wraps.
#include "../corpus.h"

#include <climits>

#define HALF(n) ((n) / TWO)
#define TWO     2
#if HALF(8) != 4
#error "the preprocessor divides too"
#endif
#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

struct fields {
    unsigned low : 4, high : 9;
};
enum { WIDTH = 8, STEP = 3 };
struct vector {
    float x, y;
    vector(float a, float b) : x(a), y(b)
    {
    }
    vector(const vector &) = delete;
    __device__ vector &operator/=(float by)
    {
        x /= by;
        y /= by;
        return *this;
    }
    __device__ float operator/(const vector &other) const
    {
        return x / other.x;
    }
};
// Operators of a namespace hide those outside it.
namespace images
{
struct image {
    float pixel;
};
inline __host__ __device__ image operator/(float by, const image &one)
{
    return {by / one.pixel};
}
#define SHARE(a, b) ((a) / (b))
__device__ float share(float a, int b)
{
    a /= b;
    return SHARE(a, 2 * b) + (1.0f / image{2}).pixel;
}
} // namespace images

template <int Size, int Part> __device__ int parts(int index)
{
    __shared__ int table[Size / Part];
    static_assert(Size % Part == 0, "");
    constexpr int count = CEIL_DIV(Size, Part);
    if (index == 0)
        for (int i = 0; i < count; i++)
            table[i] = i % Part;
    __syncthreads();
    return table[count - 1];
}

__global__ void divide(const int *in, fields *bits, double *output)
{
    int one = in[0], minus = in[1], least = in[2], k = 0;
    vector *a = new vector(8, 6), *b = new vector(2, 1);
    volatile unsigned char small = 200;
    float real = one;
    bits->low /= one + 1;
    bits->high %= 7 * one;
    *a /= 2 * real;
    real /= 4 * one;
    small /= one + 2;
    output[k++] = bits->low + bits->high / bits->low;
    output[k++] = *a / *b;
    output[k++] = images::share(12 * one, one + 1) - 1.0;
    output[k++] = real + 1 / 2.0f;
    output[k++] = least / minus;
    output[k++] = least % minus;
    output[k++] = WIDTH / STEP + WIDTH % STEP * 10;
    output[k++] = parts<64, 8>(threadIdx.x);
    output[k++] = small;
    output[k++] = HALF(one * 10) / -minus / *in;
    output[k++] = -7 / 2u > 1000;
    delete a;
    delete b;
}

int main()
{
    static const double expected[] = {3 + 1, 2, 1, 0.75, INT_MIN, 0, 22, 7, 66, 5, 1};
    const int in[] = {1, -1, INT_MIN};
    const fields start[] = {{7, 12}};
    int *device = device_copy(in);
    fields *bits = device_copy(start);
    double *output = device_zeros<double>(11), result[11];
    divide<<<1, 1>>>(device, bits, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 11; i++)
        REQUIRE(result[i] == expected[i]);
    CHECK(cudaFree(device));
    CHECK(cudaFree(bits));
    CHECK(cudaFree(output));
    return 0;
}
