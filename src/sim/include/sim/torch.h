// What device code uses of PyTorch's headers: its 16-bit numbers, accessors, types for sums, and macros. Written anew,
// with PyTorch's names; it stands in for <torch/extension.h>, <ATen/...> and <c10/...> where a kernel of an extension
// is checked without PyTorch. Host code that needs tensors is not compiled then (source/torch.h).
#pragma once

#include "sim/standin.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "cuda_bf16.h"
#include "cuda_fp16.h"

// --- macros ----------------------------------------------------------------------------------------------------------

#define C10_HOST_DEVICE         __host__ __device__
#define C10_DEVICE              __device__
#define C10_HOST                __host__
#define C10_ALWAYS_INLINE       inline __attribute__((always_inline))
#define C10_RESTRICT            __restrict__
#define C10_UNUSED              __attribute__((unused))
#define C10_LIKELY(condition)   (condition)
#define C10_UNLIKELY(condition) (condition)
#define C10_WARP_SIZE           32
#define C10_LAUNCH_BOUNDS_0
#define C10_LAUNCH_BOUNDS_1(threads)         __launch_bounds__(threads)
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__(threads, blocks)
#define GPU_LAMBDA                           __host__ __device__
#define TORCH_CUDA_CU_API
#define TORCH_API
#define CUDA_KERNEL_ASSERT(condition)           assert(condition)
#define CUDA_KERNEL_ASSERT_MSG(condition, text) assert(condition)
#define SYCL_KERNEL_ASSERT(condition)           assert(condition)

#define CUDA_KERNEL_LOOP_TYPE(i, n, type)                                                                              \
    for (int64_t i##_wide = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i##_wide < (n);                            \
         i##_wide += (int64_t)blockDim.x * gridDim.x)                                                                  \
        for (type i = (type)i##_wide, i##_once = 1; i##_once; i##_once = 0)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)

#define TORCH_CHECK(condition, ...)                                                                                    \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            throw std::runtime_error("TORCH_CHECK failed: " #condition);                                               \
    } while (0)
#define TORCH_INTERNAL_ASSERT(condition, ...) TORCH_CHECK(condition)
#define AT_ASSERT(condition, ...)             TORCH_CHECK(condition)
#define AT_ASSERTM(condition, ...)            TORCH_CHECK(condition)
#define AT_ERROR(...)                         throw std::runtime_error("AT_ERROR")
#define C10_CUDA_CHECK(call)                                                                                           \
    do {                                                                                                               \
        const cudaError_t sim_status = (call);                                                                         \
        if (sim_status != cudaSuccess)                                                                                 \
            throw std::runtime_error(cudaGetErrorString(sim_status));                                                  \
    } while (0)
#define AT_CUDA_CHECK(call)            C10_CUDA_CHECK(call)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())

// --- 16-bit numbers --------------------------------------------------------------------------------------------------

namespace c10
{

// As in PyTorch: two of them give one of them, rounded; with a float or a double the result is a float or a double.
#define SIM_TORCH_NUMBER(Number, Format, Cuda)                                                                         \
    struct alignas(2) Number {                                                                                         \
        unsigned short x;                                                                                              \
        struct from_bits_t {                                                                                           \
        };                                                                                                             \
        static constexpr from_bits_t from_bits()                                                                       \
        {                                                                                                              \
            return from_bits_t();                                                                                      \
        }                                                                                                              \
        Number() = default;                                                                                            \
        constexpr Number(unsigned short bits, from_bits_t) : x(bits)                                                   \
        {                                                                                                              \
        }                                                                                                              \
        SIM_INLINE Number(float value) : x(sim::Format::nearest(value))                                                \
        {                                                                                                              \
        }                                                                                                              \
        SIM_INLINE Number(const Cuda &value) : x(value.__x)                                                            \
        {                                                                                                              \
        }                                                                                                              \
        SIM_INLINE operator float() const                                                                              \
        {                                                                                                              \
            return sim::Format::value(x);                                                                              \
        }                                                                                                              \
        SIM_INLINE operator Cuda() const                                                                               \
        {                                                                                                              \
            return sim::number_of_bits<Cuda>(x);                                                                       \
        }                                                                                                              \
    };                                                                                                                 \
    SIM_TORCH_OPERATOR(Number, +, +=)                                                                                  \
    SIM_TORCH_OPERATOR(Number, -, -=)                                                                                  \
    SIM_TORCH_OPERATOR(Number, *, *=)                                                                                  \
    SIM_TORCH_OPERATOR(Number, /, /=)                                                                                  \
    SIM_INLINE Number operator-(const Number &a)                                                                       \
    {                                                                                                                  \
        return Number((unsigned short)(a.x ^ 0x8000), Number::from_bits());                                            \
    }
#define SIM_TORCH_OPERATOR(Number, sign, assign)                                                                       \
    SIM_INLINE Number operator sign(const Number &a, const Number &b)                                                  \
    {                                                                                                                  \
        return Number((float)a sign(float) b);                                                                         \
    }                                                                                                                  \
    SIM_INLINE Number &operator assign(Number &a, const Number &b)                                                     \
    {                                                                                                                  \
        a = a sign b;                                                                                                  \
        return a;                                                                                                      \
    }                                                                                                                  \
    SIM_INLINE float operator sign(Number a, float b)                                                                  \
    {                                                                                                                  \
        return (float)a sign b;                                                                                        \
    }                                                                                                                  \
    SIM_INLINE float operator sign(float a, Number b)                                                                  \
    {                                                                                                                  \
        return a sign(float) b;                                                                                        \
    }                                                                                                                  \
    SIM_INLINE float &operator assign(float &a, const Number &b)                                                       \
    {                                                                                                                  \
        return a assign(float) b;                                                                                      \
    }                                                                                                                  \
    SIM_INLINE double operator sign(Number a, double b)                                                                \
    {                                                                                                                  \
        return (double)(float)a sign b;                                                                                \
    }                                                                                                                  \
    SIM_INLINE double operator sign(double a, Number b)                                                                \
    {                                                                                                                  \
        return a sign(double)(float) b;                                                                                \
    }                                                                                                                  \
    SIM_INLINE Number operator sign(Number a, int b)                                                                   \
    {                                                                                                                  \
        return a sign Number((float)b);                                                                                \
    }                                                                                                                  \
    SIM_INLINE Number operator sign(int a, Number b)                                                                   \
    {                                                                                                                  \
        return Number((float)a) sign b;                                                                                \
    }                                                                                                                  \
    SIM_INLINE Number operator sign(Number a, int64_t b)                                                               \
    {                                                                                                                  \
        return a sign Number((float)b);                                                                                \
    }                                                                                                                  \
    SIM_INLINE Number operator sign(int64_t a, Number b)                                                               \
    {                                                                                                                  \
        return Number((float)a) sign b;                                                                                \
    }

SIM_TORCH_NUMBER(Half, half_format, __half)
SIM_TORCH_NUMBER(BFloat16, bfloat_format, __nv_bfloat16)
#undef SIM_TORCH_OPERATOR
#undef SIM_TORCH_NUMBER

template <typename T> struct alignas(sizeof(T) * 2) complex {
    T real_ = 0, imag_ = 0;
    complex() = default;
    constexpr complex(T real, T imag = T()) : real_(real), imag_(imag)
    {
    }
    constexpr T real() const
    {
        return real_;
    }
    constexpr T imag() const
    {
        return imag_;
    }
    constexpr complex operator+(complex b) const
    {
        return complex(real_ + b.real_, imag_ + b.imag_);
    }
    constexpr complex operator-(complex b) const
    {
        return complex(real_ - b.real_, imag_ - b.imag_);
    }
    constexpr complex operator*(complex b) const
    {
        return complex(real_ * b.real_ - imag_ * b.imag_, real_ * b.imag_ + imag_ * b.real_);
    }
    constexpr complex &operator+=(complex b)
    {
        return *this = *this + b;
    }
};

enum class ScalarType : int8_t {
    Byte,
    Char,
    Short,
    Int,
    Long,
    Half,
    Float,
    Double,
    ComplexHalf,
    ComplexFloat,
    ComplexDouble,
    Bool,
    BFloat16 = 15,
    Undefined = 127
};
constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char, kShort = ScalarType::Short,
                     kInt = ScalarType::Int, kLong = ScalarType::Long, kHalf = ScalarType::Half,
                     kFloat = ScalarType::Float, kDouble = ScalarType::Double, kBool = ScalarType::Bool,
                     kBFloat16 = ScalarType::BFloat16;

template <typename T> struct CppTypeToScalarType;
#define SIM_TORCH_TYPE(type, name)                                                                                     \
    template <> struct CppTypeToScalarType<type> : std::integral_constant<ScalarType, ScalarType::name> {              \
    };
SIM_TORCH_TYPE(uint8_t, Byte)
SIM_TORCH_TYPE(int8_t, Char)
SIM_TORCH_TYPE(int16_t, Short)
SIM_TORCH_TYPE(int, Int)
SIM_TORCH_TYPE(int64_t, Long)
SIM_TORCH_TYPE(Half, Half)
SIM_TORCH_TYPE(float, Float)
SIM_TORCH_TYPE(double, Double)
SIM_TORCH_TYPE(bool, Bool)
SIM_TORCH_TYPE(BFloat16, BFloat16)
#undef SIM_TORCH_TYPE

namespace cuda
{
namespace compat
{
#define SIM_TORCH_MATH(name)                                                                                           \
    SIM_INLINE float name(float x)                                                                                     \
    {                                                                                                                  \
        return ::name##f(x);                                                                                           \
    }                                                                                                                  \
    SIM_INLINE double name(double x)                                                                                   \
    {                                                                                                                  \
        return ::name(x);                                                                                              \
    }
SIM_TORCH_MATH(ceil)
SIM_TORCH_MATH(exp)
SIM_TORCH_MATH(floor)
SIM_TORCH_MATH(log)
SIM_TORCH_MATH(log1p)
SIM_TORCH_MATH(sqrt)
SIM_TORCH_MATH(rsqrt)
SIM_TORCH_MATH(tan)
SIM_TORCH_MATH(tanh)
SIM_TORCH_MATH(normcdf)
#undef SIM_TORCH_MATH
SIM_INLINE float abs(float x)
{
    return ::fabsf(x);
}
SIM_INLINE double abs(double x)
{
    return ::fabs(x);
}
SIM_INLINE float max(float x, float y)
{
    return ::fmaxf(x, y);
}
SIM_INLINE double max(double x, double y)
{
    return ::fmax(x, y);
}
SIM_INLINE float min(float x, float y)
{
    return ::fminf(x, y);
}
SIM_INLINE double min(double x, double y)
{
    return ::fmin(x, y);
}
SIM_INLINE float pow(float x, float y)
{
    return ::powf(x, y);
}
SIM_INLINE double pow(double x, double y)
{
    return ::pow(x, y);
}
} // namespace compat
} // namespace cuda
} // namespace c10

namespace std
{
#define SIM_TORCH_LIMITS(Number, least, most, low, step, digit)                                                        \
    template <> class numeric_limits<c10::Number>                                                                      \
    {                                                                                                                  \
      public:                                                                                                          \
        static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;           \
        static constexpr bool has_infinity = true, has_quiet_NaN = true;                                               \
        static constexpr int digits = digit, radix = 2;                                                                \
        static constexpr c10::Number bits(unsigned short value)                                                        \
        {                                                                                                              \
            return c10::Number(value, c10::Number::from_bits());                                                       \
        }                                                                                                              \
        static constexpr c10::Number min()                                                                             \
        {                                                                                                              \
            return bits(least);                                                                                        \
        }                                                                                                              \
        static constexpr c10::Number max()                                                                             \
        {                                                                                                              \
            return bits(most);                                                                                         \
        }                                                                                                              \
        static constexpr c10::Number lowest()                                                                          \
        {                                                                                                              \
            return bits(low);                                                                                          \
        }                                                                                                              \
        static constexpr c10::Number epsilon()                                                                         \
        {                                                                                                              \
            return bits(step);                                                                                         \
        }                                                                                                              \
        static constexpr c10::Number infinity()                                                                        \
        {                                                                                                              \
            return bits(digit == 11 ? 0x7c00 : 0x7f80);                                                                \
        }                                                                                                              \
        static constexpr c10::Number quiet_NaN()                                                                       \
        {                                                                                                              \
            return bits(digit == 11 ? 0x7e00 : 0x7fc0);                                                                \
        }                                                                                                              \
    };
SIM_TORCH_LIMITS(Half, 0x0400, 0x7bff, 0xfbff, 0x1400, 11)
SIM_TORCH_LIMITS(BFloat16, 0x0080, 0x7f7f, 0xff7f, 0x3c00, 8)
#undef SIM_TORCH_LIMITS
} // namespace std

// --- at: accessors and types -----------------------------------------------------------------------------------------

namespace at
{
using namespace c10;

class Tensor; // only its name: what needs tensors is not compiled

template <typename T> struct DefaultPtrTraits {
    typedef T *PtrType;
};
template <typename T> struct RestrictPtrTraits {
    typedef T *__restrict__ PtrType;
};

template <typename T, size_t N, template <typename U> class Traits = DefaultPtrTraits, typename index_t = int64_t>
class TensorAccessor
{
  public:
    typedef typename Traits<T>::PtrType PtrType;
    SIM_INLINE TensorAccessor(PtrType data, const index_t *sizes, const index_t *strides)
        : data_(data), sizes_(sizes), strides_(strides)
    {
    }
    SIM_INLINE index_t size(index_t i) const
    {
        return sizes_[i];
    }
    SIM_INLINE index_t stride(index_t i) const
    {
        return strides_[i];
    }
    SIM_INLINE PtrType data()
    {
        return data_;
    }
    SIM_INLINE const PtrType data() const
    {
        return data_;
    }
    SIM_INLINE decltype(auto) operator[](index_t i) const
    {
        if constexpr (N == 1)
            return (data_[strides_[0] * i]); // a reference
        else
            return TensorAccessor<T, N - 1, Traits, index_t>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
    }

  protected:
    PtrType data_;
    const index_t *sizes_, *strides_;
};

// By value in a kernel's parameters.
template <typename T, size_t N, template <typename U> class Traits = DefaultPtrTraits, typename index_t = int64_t>
class GenericPackedTensorAccessor
{
  public:
    typedef typename Traits<T>::PtrType PtrType;
    GenericPackedTensorAccessor() = default;
    GenericPackedTensorAccessor(PtrType data, const int64_t *sizes, const int64_t *strides) : data_(data)
    {
        for (size_t i = 0; i < N; i++) {
            sizes_[i] = (index_t)sizes[i];
            strides_[i] = (index_t)strides[i];
        }
    }
    SIM_INLINE index_t size(index_t i) const
    {
        return sizes_[i];
    }
    SIM_INLINE index_t stride(index_t i) const
    {
        return strides_[i];
    }
    SIM_INLINE PtrType data() const
    {
        return data_;
    }
    SIM_INLINE decltype(auto) operator[](index_t i) const
    {
        if constexpr (N == 1)
            return (data_[strides_[0] * i]);
        else
            return TensorAccessor<T, N - 1, Traits, index_t>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
    }

  protected:
    PtrType data_;
    index_t sizes_[N], strides_[N];
};
template <typename T, size_t N, template <typename U> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int32_t>;
template <typename T, size_t N, template <typename U> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, int64_t>;
template <typename T, size_t N, template <typename U> class Traits = DefaultPtrTraits, typename index_t = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, Traits, index_t>;

// The type that sums are made in: on a GPU float for all but double.
template <typename T> struct OpMathType {
    typedef T type;
};
template <> struct OpMathType<Half> {
    typedef float type;
};
template <> struct OpMathType<BFloat16> {
    typedef float type;
};
template <typename T> using opmath_type = typename OpMathType<T>::type;
template <typename T, bool is_cuda> struct AccumulateType {
    typedef std::conditional_t<std::is_integral<T>::value && !std::is_same<T, bool>::value, int64_t, opmath_type<T>>
        type;
};
template <> struct AccumulateType<bool, true> {
    typedef bool type;
};
template <> struct AccumulateType<float, false> {
    typedef double type;
};
template <typename T, bool is_cuda> using acc_type = typename AccumulateType<T, is_cuda>::type;

template <typename T> struct numeric_limits {
    static SIM_INLINE T lowest()
    {
        return std::numeric_limits<T>::lowest();
    }
    static SIM_INLINE T max()
    {
        return std::numeric_limits<T>::max();
    }
    static SIM_INLINE T lower_bound()
    {
        return std::numeric_limits<T>::has_infinity ? (T)-std::numeric_limits<T>::infinity()
                                                    : std::numeric_limits<T>::lowest();
    }
    static SIM_INLINE T upper_bound()
    {
        return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                    : std::numeric_limits<T>::max();
    }
};

namespace detail
{
template <typename T, int N> struct Array {
    T data[N];
    SIM_INLINE T operator[](int i) const
    {
        return data[i];
    }
    SIM_INLINE T &operator[](int i)
    {
        return data[i];
    }
};
} // namespace detail

// A seed and an offset, as a generator hands them to a kernel.
struct PhiloxCudaState {
    PhiloxCudaState() = default;
    PhiloxCudaState(uint64_t seed, uint64_t offset) : seed_(seed), offset_(offset)
    {
    }
    uint64_t seed_ = 0, offset_ = 0;
};
namespace cuda
{
namespace philox
{
SIM_INLINE std::tuple<uint64_t, uint64_t> unpack(PhiloxCudaState state)
{
    return std::make_tuple(state.seed_, state.offset_);
}
} // namespace philox
} // namespace cuda

template <typename T> SIM_INLINE T ceil_div(T a, T b)
{
    return (a + b - 1) / b;
}
} // namespace at

namespace torch
{
using namespace at;
} // namespace torch

// --- atomics and shuffles --------------------------------------------------------------------------------------------

SIM_INLINE at::Half atomicAdd(at::Half *address, at::Half value)
{
    return at::Half(atomicAdd(reinterpret_cast<__half *>(address), (__half)value));
}
SIM_INLINE at::BFloat16 atomicAdd(at::BFloat16 *address, at::BFloat16 value)
{
    return at::BFloat16(atomicAdd(reinterpret_cast<__nv_bfloat16 *>(address), (__nv_bfloat16)value));
}
template <typename T> SIM_INLINE T gpuAtomicAdd(T *address, T value)
{
    if constexpr (std::is_same<T, int64_t>::value)
        return (T)atomicAdd(reinterpret_cast<unsigned long long *>(address), (unsigned long long)value);
    else
        return atomicAdd(address, value);
}
template <typename T> SIM_INLINE void gpuAtomicAddNoReturn(T *address, T value)
{
    gpuAtomicAdd(address, value);
}

namespace sim
{
// PyTorch's 16-bit numbers are shuffled as the bits they are.
template <typename T, typename Shuffle> SIM_INLINE T shuffled(T value, Shuffle shuffle)
{
    if constexpr (std::is_same<T, c10::Half>::value || std::is_same<T, c10::BFloat16>::value)
        return T((unsigned short)shuffle((unsigned)value.x), T::from_bits());
    else
        return shuffle(value);
}
} // namespace sim
#define SIM_TORCH_SHUFFLE(NAME, call)                                                                                  \
    template <typename T> SIM_INLINE T NAME(T value, unsigned lane, int width = 32, unsigned mask = 0xffffffffu)       \
    {                                                                                                                  \
        return sim::shuffled(                                                                                          \
            value, [=](auto bits) __attribute__((always_inline)) { return call(mask, bits, lane, width); });           \
    }
SIM_TORCH_SHUFFLE(WARP_SHFL_DOWN, __shfl_down_sync)
SIM_TORCH_SHUFFLE(WARP_SHFL_UP, __shfl_up_sync)
SIM_TORCH_SHUFFLE(WARP_SHFL_XOR, __shfl_xor_sync)
SIM_TORCH_SHUFFLE(WARP_SHFL, __shfl_sync)
#undef SIM_TORCH_SHUFFLE
SIM_INLINE unsigned WARP_BALLOT(int predicate, unsigned mask = 0xffffffffu)
{
    return __ballot_sync(mask, predicate);
}
