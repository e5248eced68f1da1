// Holds every intrinsic that has one right answer against a GPU's: each is computed for some thousand random inputs,
// zeros, infinities and NaNs among them, and the results are hashed. intrinsics_expected.h has the hashes as an H200
// gave them. With an argument the program prints the table instead of checking it.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdio>
#include <cstring>

#include "intrinsics_half_list.h"
#include "intrinsics_list.h"

typedef unsigned long long hash_type;

static const int rounds = 4000;

struct generator {
    hash_type state;
    __device__ hash_type next()
    {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
    }
    __device__ unsigned int word()
    {
        return (unsigned int)(next() >> 20);
    }
    // Now and then a special pattern, or one with few bits or a middling exponent, where rounding decides.
    __device__ float single()
    {
        unsigned int bits = word(), kind = word() % 8,
                     specials[] = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 1};
        if (kind == 0)
            bits = specials[word() % 7];
        else if (kind < 5)
            bits = (bits & 0x80ffffff) | (0x7f - 12 + word() % 24) << 23;
        else if (kind == 5)
            bits = (bits & 0x80fff000) | (0x7f - 12 + word() % 24) << 23;
        if ((bits & 0x7fffffff) > 0x7f800000)
            bits |= 0x00400000; // hosts treat a signalling NaN in their own ways
        return __uint_as_float(bits);
    }
    __device__ double twice()
    {
        hash_type bits = next(), kind = word() % 8;
        if (kind == 0)
            return single();
        if (kind < 5)
            bits = (bits & 0x800fffffffffffffull) | (hash_type)(0x3ff - 40 + word() % 80) << 52;
        else if (kind == 5)
            bits = (bits & 0x800ffff000000000ull) | (hash_type)(0x3ff - 20 + word() % 40) << 52;
        return __longlong_as_double((long long)bits);
    }
    __device__ unsigned short narrow(int exponent_bits)
    {
        unsigned int bits = word() & 0xffff, kind = word() % 8, mantissa_bits = 15 - exponent_bits;
        unsigned int middle = (1u << (exponent_bits - 1)) - 4 + word() % 8;
        if (kind == 0)
            bits &= 0x8000u | (1u << mantissa_bits);
        else if (kind < 5)
            bits = (bits & (0x8000u | ((1u << mantissa_bits) - 1))) | middle << mantissa_bits;
        return (unsigned short)bits;
    }
};

__device__ hash_type bits_of(float x)
{
    return x != x ? 1 : __float_as_uint(x);
}
__device__ hash_type bits_of(double x)
{
    return x != x ? 1 : (hash_type)__double_as_longlong(x);
}
__device__ hash_type bits_of(__half x)
{
    return __half_as_ushort(x);
}
__device__ hash_type bits_of(__half2 x)
{
    return bits_of(x.x) << 16 | bits_of(x.y);
}
__device__ hash_type bits_of(__nv_bfloat16 x)
{
    return __bfloat16_as_ushort(x);
}
__device__ hash_type bits_of(__nv_bfloat162 x)
{
    return bits_of(x.x) << 16 | bits_of(x.y);
}
template <class Integer> __device__ hash_type bits_of(Integer x)
{
    return (hash_type)x;
}

__device__ hash_type mixed(hash_type hash, hash_type bits)
{
    return (hash ^ bits ^ bits >> 29) * 0x9e3779b97f4a7c15ull;
}

#define COUNT(name, expression) +1
#define NAME(name, expression)  #name,
#define HASH(name, expression)  hashes[at] = mixed(hashes[at], bits_of(expression)), at++;
#define GROUP(group, list)                                                                                             \
    static const int group##_count = 0 list(COUNT);                                                                    \
    static const char *const group##_names[] = {list(NAME)};                                                           \
    __global__ void group(hash_type *result)                                                                           \
    {                                                                                                                  \
        hash_type hashes[group##_count];                                                                               \
        for (int i = 0; i < group##_count; i++)                                                                        \
            hashes[i] = 0;                                                                                             \
        generator draw = {88172645463325252ull};                                                                       \
        for (int turn = 0; turn < rounds; turn++) {                                                                    \
            const unsigned int u = draw.word(), v = draw.word(), w = draw.word();                                      \
            const hash_type l = draw.next() >> (v & 63), m = draw.next();                                              \
            const float f = draw.single(), g = draw.single(), h = draw.single();                                       \
            const double d = draw.twice(), e = draw.twice(), k = draw.twice();                                         \
            const __half xh = __ushort_as_half(draw.narrow(5)), yh = __ushort_as_half(draw.narrow(5)),                 \
                         zh = __ushort_as_half(draw.narrow(5));                                                        \
            const __nv_bfloat16 xb = __ushort_as_bfloat16(draw.narrow(8)), yb = __ushort_as_bfloat16(draw.narrow(8)),  \
                                zb = __ushort_as_bfloat16(draw.narrow(8));                                             \
            const __half2 Xh(xh, yh), Yh(zh, xh), Zh(yh, zh);                                                          \
            const __nv_bfloat162 Xb(xb, yb), Yb(zb, xb), Zb(yb, zb);                                                   \
            (void)u, (void)v, (void)w, (void)l, (void)m, (void)f, (void)g, (void)h, (void)d, (void)e, (void)k;         \
            (void)Xh, (void)Yh, (void)Zh, (void)Xb, (void)Yb, (void)Zb;                                                \
            int at = 0;                                                                                                \
            list(HASH)                                                                                                 \
        }                                                                                                              \
        for (int i = 0; i < group##_count; i++)                                                                        \
            result[i] = hashes[i];                                                                                     \
    }
GROUP(integers, INTEGER_INTRINSICS)
GROUP(simd, SIMD_INTRINSICS)
GROUP(floats, FLOAT_INTRINSICS)
GROUP(halves, HALF_INTRINSICS)
GROUP(bfloats, BFLOAT16_INTRINSICS)
GROUP(eighths, FP8_INTRINSICS)

struct expectation {
    const char *name;
    hash_type hash;
};
static const expectation expected[] = {
#include "intrinsics_expected.h"
    {"", 0}};

static int wrong, seen;

static void check(const char *name, hash_type hash, bool print)
{
    if (print) {
        printf("{\"%s\", 0x%016llxull},\n", name, hash);
        return;
    }
    for (const expectation *entry = expected; entry->name[0] != 0; entry++) {
        if (strcmp(entry->name, name) != 0)
            continue;
        seen++;
        if (entry->hash != hash) {
            printf("%s: hash %016llx, a GPU gives %016llx\n", name, hash, entry->hash);
            wrong++;
        }
        return;
    }
    printf("%s: nothing is known about it\n", name);
    wrong++;
}

static void run(void (*kernel)(hash_type *), int count, const char *const *names, bool print)
{
    hash_type *result = NULL, hashes[512];
    if (cudaMalloc(&result, sizeof hashes) != cudaSuccess || count > 512)
        wrong++;
    kernel<<<1, 1>>>(result);
    if (cudaMemcpy(hashes, result, count * sizeof(hash_type), cudaMemcpyDeviceToHost) != cudaSuccess)
        wrong++;
    for (int i = 0; i < count; i++)
        check(names[i], hashes[i], print);
    cudaFree(result);
}
#define RUN(group) run(group, group##_count, group##_names, argc > 1)

int main(int argc, char **)
{
    RUN(integers);
    RUN(simd);
    RUN(floats);
    RUN(halves);
    RUN(bfloats);
    RUN(eighths);
    if (argc == 1)
        printf("%d intrinsics, %d wrong\n", seen, wrong);
    return wrong != 0;
}
