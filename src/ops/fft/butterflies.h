// Discrete Fourier transforms of a few numbers that a thread holds in registers, of lengths known at compile time: 2,
// 3, 4, 5 and 7 written out; 6, 8, 9, 10, 12, 14, 15, 16 and 32 composed of them. All are forward; an inverse transform
// conjugates before and after.
#pragma once

#include <cuda_runtime.h>

__device__ static inline float2 complex_add(float2 a, float2 b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}

__device__ static inline float2 complex_subtract(float2 a, float2 b)
{
    return make_float2(a.x - b.x, a.y - b.y);
}

__device__ static inline float2 complex_multiply(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// -i * a
__device__ static inline float2 complex_turn(float2 a)
{
    return make_float2(a.y, -a.x);
}

// exp(-2πi index / 32) * a, index known at compile time: quarter turns cost nothing, eighths two products.
__device__ __forceinline__ static float2 turn_32nds(float2 a, int index)
{
    // cos(2π i / 32)
    const float cosine[9] = {1.0f,         0.980785280f, 0.923879533f, 0.831469612f, 0.707106781f,
                             0.555570233f, 0.382683432f, 0.195090322f, 0.0f};
    for (index %= 32; index >= 8; index -= 8)
        a = complex_turn(a);
    if (index == 0)
        return a;
    if (index == 4)
        return make_float2((a.x + a.y) * cosine[4], (a.y - a.x) * cosine[4]);
    return complex_multiply(a, make_float2(cosine[index], -cosine[8 - index]));
}

// x[k] = Σ x[q] exp(-2πi q k / R), in natural order, in place.
template <int R> struct butterfly {
    // R = A * B, q = a * B + b, k = i + A * j: transforms of A, a rotation by b * i, transforms of B.
    enum { A = 4, B = R / A };

    __device__ __forceinline__ static void run(float2 (&x)[R])
    {
        float2 rows[A][B];
#pragma unroll
        for (int b = 0; b < B; b++) {
            float2 column[A];
#pragma unroll
            for (int a = 0; a < A; a++)
                column[a] = x[a * B + b];
            butterfly<A>::run(column);
#pragma unroll
            for (int i = 0; i < A; i++)
                rows[i][b] = turn_32nds(column[i], b * i * (32 / R));
        }
#pragma unroll
        for (int i = 0; i < A; i++) {
            butterfly<B>::run(rows[i]);
#pragma unroll
            for (int j = 0; j < B; j++)
                x[i + A * j] = rows[i][j];
        }
    }
};

template <> struct butterfly<1> {
    __device__ __forceinline__ static void run(float2 (&)[1])
    {
    }
};

template <> struct butterfly<2> {
    __device__ __forceinline__ static void run(float2 (&x)[2])
    {
        float2 sum = complex_add(x[0], x[1]);
        x[1] = complex_subtract(x[0], x[1]);
        x[0] = sum;
    }
};

template <> struct butterfly<4> {
    __device__ __forceinline__ static void run(float2 (&x)[4])
    {
        float2 even = complex_add(x[0], x[2]), even_difference = complex_subtract(x[0], x[2]);
        float2 odd = complex_add(x[1], x[3]), odd_difference = complex_turn(complex_subtract(x[1], x[3]));
        x[0] = complex_add(even, odd);
        x[1] = complex_add(even_difference, odd_difference);
        x[2] = complex_subtract(even, odd);
        x[3] = complex_subtract(even_difference, odd_difference);
    }
};

// R odd: sums and differences of the pairs x[q], x[R - q] halve the products.
template <int R> struct odd_butterfly {
    __device__ __forceinline__ static void run(float2 (&x)[R], const float *cosine, const float *sine)
    {
        enum { PAIRS = R / 2 };
        float2 sum[PAIRS], difference[PAIRS], first = x[0];
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
            sum[p] = complex_add(x[p + 1], x[R - 1 - p]);
            difference[p] = complex_subtract(x[p + 1], x[R - 1 - p]);
            x[0] = complex_add(x[0], sum[p]);
        }
#pragma unroll
        for (int k = 1; k <= PAIRS; k++) {
            float2 even = first, odd = make_float2(0, 0);
#pragma unroll
            for (int p = 0; p < PAIRS; p++) {
                int angle = k * (p + 1) % R, folded = angle > PAIRS ? R - angle : angle;
                float c = cosine[folded - 1], s = angle > PAIRS ? -sine[folded - 1] : sine[folded - 1];
                even = make_float2(even.x + c * sum[p].x, even.y + c * sum[p].y);
                odd = make_float2(odd.x + s * difference[p].y, odd.y - s * difference[p].x); // -i s difference
            }
            x[k] = complex_add(even, odd);
            x[R - k] = complex_subtract(even, odd);
        }
    }
};

// cos and sin of 2π k / R
template <> struct butterfly<3> {
    __device__ __forceinline__ static void run(float2 (&x)[3])
    {
        const float cosine[1] = {-0.5f}, sine[1] = {0.866025404f};
        odd_butterfly<3>::run(x, cosine, sine);
    }
};

template <> struct butterfly<5> {
    __device__ __forceinline__ static void run(float2 (&x)[5])
    {
        const float cosine[2] = {0.309016994f, -0.809016994f}, sine[2] = {0.951056516f, 0.587785252f};
        odd_butterfly<5>::run(x, cosine, sine);
    }
};

template <> struct butterfly<7> {
    __device__ __forceinline__ static void run(float2 (&x)[7])
    {
        const float cosine[3] = {0.623489802f, -0.222520934f, -0.900968868f};
        const float sine[3] = {0.781831482f, 0.974927912f, 0.433883739f};
        odd_butterfly<7>::run(x, cosine, sine);
    }
};

// R = A * B without a common factor, q = a * B + b * A (mod R), k = i (mod A) = j (mod B): transforms of A and of B,
// without rotations.
template <int A, int B> struct coprime_butterfly {
    __device__ __forceinline__ static void run(float2 (&x)[A * B])
    {
        float2 rows[A][B];
#pragma unroll
        for (int b = 0; b < B; b++) {
            float2 column[A];
#pragma unroll
            for (int a = 0; a < A; a++)
                column[a] = x[(a * B + b * A) % (A * B)];
            butterfly<A>::run(column);
#pragma unroll
            for (int i = 0; i < A; i++)
                rows[i][b] = column[i];
        }
#pragma unroll
        for (int i = 0; i < A; i++)
            butterfly<B>::run(rows[i]);
#pragma unroll
        for (int k = 0; k < A * B; k++)
            x[k] = rows[k % A][k % B];
    }
};

template <> struct butterfly<6> {
    __device__ __forceinline__ static void run(float2 (&x)[6])
    {
        coprime_butterfly<2, 3>::run(x);
    }
};

template <> struct butterfly<10> {
    __device__ __forceinline__ static void run(float2 (&x)[10])
    {
        coprime_butterfly<2, 5>::run(x);
    }
};

template <> struct butterfly<12> {
    __device__ __forceinline__ static void run(float2 (&x)[12])
    {
        coprime_butterfly<3, 4>::run(x);
    }
};

template <> struct butterfly<14> {
    __device__ __forceinline__ static void run(float2 (&x)[14])
    {
        coprime_butterfly<2, 7>::run(x);
    }
};

template <> struct butterfly<15> {
    __device__ __forceinline__ static void run(float2 (&x)[15])
    {
        coprime_butterfly<3, 5>::run(x);
    }
};

// As the composed ones above: q = 3 a + b, k = i + 3 j, with rotations by b * i ninths.
template <> struct butterfly<9> {
    __device__ __forceinline__ static void run(float2 (&x)[9])
    {
        const float2 ninths[5] = {{1.0f, 0.0f},
                                  {0.766044443f, -0.642787610f},
                                  {0.173648178f, -0.984807753f},
                                  {-0.5f, -0.866025404f},
                                  {-0.939692621f, -0.342020143f}};
        float2 rows[3][3];
#pragma unroll
        for (int b = 0; b < 3; b++) {
            float2 column[3] = {x[b], x[3 + b], x[6 + b]};
            butterfly<3>::run(column);
#pragma unroll
            for (int i = 0; i < 3; i++)
                rows[i][b] = b * i > 0 ? complex_multiply(column[i], ninths[b * i]) : column[i];
        }
#pragma unroll
        for (int i = 0; i < 3; i++) {
            butterfly<3>::run(rows[i]);
#pragma unroll
            for (int j = 0; j < 3; j++)
                x[i + 3 * j] = rows[i][j];
        }
    }
};
