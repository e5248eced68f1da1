// CUDA's mma.h (nvcuda::wmma) on the simulated GPU. Every element of a matrix belongs to one lane; 16 by 16 by 16
// fragments are laid out as the hardware's mma registers are, others in rows (CUDA leaves it open). Sums are made in
// the accumulator's type, half in float, in ascending order of k.
#ifndef SIM_WMMA_H
#define SIM_WMMA_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "sim/library.h"

namespace nvcuda
{
namespace wmma
{
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace precision
{
struct tf32;
}

// To nearest, ties away from zero.
SIM_INLINE float __float_to_tf32(float value)
{
    unsigned bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7f800000u) != 0x7f800000u)
        bits = (bits + 0x1000u) & 0xffffe000u;
    __builtin_memcpy(&value, &bits, sizeof bits);
    return value;
}

namespace details
{
enum : int { LANES = 32 };

template <class T> struct stored {
    typedef T type;
};
template <> struct stored<precision::tf32> {
    typedef float type;
};

template <class Use, int M, int N, int K> struct extent;
template <int M, int N, int K> struct extent<matrix_a, M, N, K> {
    static constexpr int rows = M, columns = K;
};
template <int M, int N, int K> struct extent<matrix_b, M, N, K> {
    static constexpr int rows = K, columns = N;
};
template <int M, int N, int K> struct extent<accumulator, M, N, K> {
    static constexpr int rows = M, columns = N;
};

// Row and column of a lane's element: in rows, unless the hardware's own layout is known.
template <class Use, int Rows, int Columns> struct place {
    static constexpr int count = Rows * Columns / LANES;
    SIM_UNWATCHED static int row(int lane, int i)
    {
        return (lane * count + i) / Columns;
    }
    SIM_UNWATCHED static int column(int lane, int i)
    {
        return (lane * count + i) % Columns;
    }
};
template <class Use> struct place<Use, 16, 16> {
    static constexpr int count = 8;
    SIM_UNWATCHED static int row(int lane, int i)
    {
        return lane / 4 + 8 * (i >> 1 & 1);
    }
    SIM_UNWATCHED static int column(int lane, int i)
    {
        return 2 * (lane % 4) + (i & 1) + 8 * (i >> 2);
    }
};
template <> struct place<matrix_b, 16, 16> {
    static constexpr int count = 8;
    SIM_UNWATCHED static int row(int lane, int i)
    {
        return 2 * (lane % 4) + (i & 1) + 8 * (i >> 1 & 1);
    }
    SIM_UNWATCHED static int column(int lane, int i)
    {
        return lane / 4 + 8 * (i >> 2);
    }
};

SIM_INLINE int lane()
{
    return (int)sim_register_special(SIM_LANE_ID);
}
} // namespace details

template <class Use, int M, int N, int K, class T, class Layout = void> class fragment
{
  public:
    typedef typename details::stored<T>::type element_type;
    typedef details::extent<Use, M, N, K> extent;
    typedef details::place<Use, extent::rows, extent::columns> place;
    static constexpr int num_elements = place::count;
    static constexpr int num_storage_elements = place::count;
    element_type x[place::count];
};

template <class Use, int M, int N, int K, class T, class Layout, class V>
SIM_INLINE void fill_fragment(fragment<Use, M, N, K, T, Layout> &f, const V &value)
{
    for (int i = 0; i < f.num_elements; i++)
        f.x[i] = value;
}

namespace details
{
template <class Fragment, class T> SIM_INLINE void load(Fragment &f, const T *from, unsigned stride, bool by_rows)
{
    int mine = lane();
    for (int i = 0; i < f.num_elements; i++) {
        unsigned row = (unsigned)Fragment::place::row(mine, i), column = (unsigned)Fragment::place::column(mine, i);
        f.x[i] = from[by_rows ? (size_t)row * stride + column : (size_t)column * stride + row];
    }
}
template <class Layout> struct by_rows;
template <> struct by_rows<row_major> {
    static constexpr bool value = true;
};
template <> struct by_rows<col_major> {
    static constexpr bool value = false;
};
} // namespace details

template <class Use, int M, int N, int K, class T, class Layout>
SIM_INLINE void load_matrix_sync(fragment<Use, M, N, K, T, Layout> &f, const typename details::stored<T>::type *from,
                                 unsigned stride)
{
    details::load(f, from, stride, details::by_rows<Layout>::value);
}
template <int M, int N, int K, class T>
SIM_INLINE void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const T *from, unsigned stride, layout_t layout)
{
    details::load(f, from, stride, layout == mem_row_major);
}

template <int M, int N, int K, class T>
SIM_INLINE void store_matrix_sync(T *to, const fragment<accumulator, M, N, K, T> &f, unsigned stride, layout_t layout)
{
    typedef typename fragment<accumulator, M, N, K, T>::place place;
    int mine = details::lane();
    for (int i = 0; i < f.num_elements; i++) {
        unsigned row = (unsigned)place::row(mine, i), column = (unsigned)place::column(mine, i);
        to[layout == mem_row_major ? (size_t)row * stride + column : (size_t)column * stride + row] = f.x[i];
    }
}

namespace details
{
// What an element counts as in a sum. tf32 has 10 bits of fraction, the rest is dropped.
template <class T> struct as_number {
    template <class V> SIM_UNWATCHED static float of(V value)
    {
        return (float)value;
    }
};
template <> struct as_number<precision::tf32> {
    SIM_UNWATCHED static float of(float value)
    {
        unsigned bits;
        __builtin_memcpy(&bits, &value, sizeof bits);
        bits &= 0xffffe000u;
        __builtin_memcpy(&value, &bits, sizeof bits);
        return value;
    }
};
template <> struct as_number<double> {
    SIM_UNWATCHED static double of(double value)
    {
        return value;
    }
};
template <> struct as_number<signed char> {
    SIM_UNWATCHED static int of(int value)
    {
        return value;
    }
};
template <> struct as_number<unsigned char> {
    SIM_UNWATCHED static int of(int value)
    {
        return value;
    }
};

template <class A, class B, class C, class D> struct operands {
    const A *a;
    const B *b;
    const C *c;
    D *d;
};

template <int M, int N, int K, class T, class A, class B, class C, class D>
SIM_UNWATCHED inline void multiply(void **arguments, unsigned)
{
    typedef decltype(as_number<T>::of(A().x[0])) number;
    typedef operands<A, B, C, D> lanes;
    number a[M][K], b[K][N];
    for (int lane = 0; lane < LANES; lane++) {
        const lanes *mine = static_cast<const lanes *>(arguments[lane]);
        for (int i = 0; i < A::num_elements; i++)
            a[A::place::row(lane, i)][A::place::column(lane, i)] = as_number<T>::of(mine->a->x[i]);
        for (int i = 0; i < B::num_elements; i++)
            b[B::place::row(lane, i)][B::place::column(lane, i)] = as_number<T>::of(mine->b->x[i]);
    }
    for (int lane = 0; lane < LANES; lane++) {
        const lanes *mine = static_cast<const lanes *>(arguments[lane]);
        for (int i = 0; i < C::num_elements; i++) {
            int row = C::place::row(lane, i), column = C::place::column(lane, i);
            number sum = (number)mine->c->x[i];
            for (int k = 0; k < K; k++)
                sum += a[row][k] * b[k][column];
            mine->d->x[i] = (typename D::element_type)sum;
        }
    }
}
} // namespace details

template <int M, int N, int K, class T, class LayoutA, class LayoutB, class C, class D>
SIM_INLINE void mma_sync(fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, T, LayoutA> &a,
                         const fragment<matrix_b, M, N, K, T, LayoutB> &b, const fragment<accumulator, M, N, K, C> &c,
                         bool = false)
{
    typedef fragment<matrix_a, M, N, K, T, LayoutA> fragment_a;
    typedef fragment<matrix_b, M, N, K, T, LayoutB> fragment_b;
    typedef fragment<accumulator, M, N, K, C> fragment_c;
    typedef fragment<accumulator, M, N, K, D> fragment_d;
    fragment_d result; // d and c may be the same
    details::operands<fragment_a, fragment_b, fragment_c, fragment_d> mine = {&a, &b, &c, &result};
    sim_warp_call(0xffffffffu, &mine, details::multiply<M, N, K, T, fragment_a, fragment_b, fragment_c, fragment_d>);
    d = result;
}
} // namespace wmma
} // namespace nvcuda

#endif
