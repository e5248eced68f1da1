// CUDA's mma.h (nvcuda::wmma) on the simulated GPU. Every element of a matrix belongs to one lane; 16 by 16 by 16
// fragments are laid out as the hardware's mma registers are, others in rows (CUDA leaves it open). Sums are made in
// the accumulator's type, half in float, in ascending order of k.
#pragma once

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

template <class T_> struct stored {
    typedef T_ type;
};
template <> struct stored<precision::tf32> {
    typedef float type;
};

template <class Use, int M_, int N_, int K_> struct extent;
template <int M_, int N_, int K_> struct extent<matrix_a, M_, N_, K_> {
    static constexpr int rows = M_, columns = K_;
};
template <int M_, int N_, int K_> struct extent<matrix_b, M_, N_, K_> {
    static constexpr int rows = K_, columns = N_;
};
template <int M_, int N_, int K_> struct extent<accumulator, M_, N_, K_> {
    static constexpr int rows = M_, columns = N_;
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

template <class Use, int M_, int N_, int K_, class T_, class Layout = void> class fragment
{
  public:
    typedef typename details::stored<T_>::type element_type;
    typedef details::extent<Use, M_, N_, K_> extent;
    typedef details::place<Use, extent::rows, extent::columns> place;
    static constexpr int num_elements = place::count;
    static constexpr int num_storage_elements = place::count;
    element_type x[place::count];
};

template <class Use, int M_, int N_, int K_, class T_, class Layout, class V_>
SIM_INLINE void fill_fragment(fragment<Use, M_, N_, K_, T_, Layout> &f, const V_ &value)
{
    for (int i = 0; i < f.num_elements; i++)
        f.x[i] = value;
}

namespace details
{
template <class Fragment, class T_> SIM_INLINE void load(Fragment &f, const T_ *from, unsigned stride, bool by_rows)
{
    int mine = lane();
    sim_fragment_memory(from, stride, sizeof(T_), 0);
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

template <class Use, int M_, int N_, int K_, class T_, class Layout>
SIM_INLINE void load_matrix_sync(fragment<Use, M_, N_, K_, T_, Layout> &f,
                                 const typename details::stored<T_>::type *from, unsigned stride)
{
    details::load(f, from, stride, details::by_rows<Layout>::value);
}
template <int M_, int N_, int K_, class T_>
SIM_INLINE void load_matrix_sync(fragment<accumulator, M_, N_, K_, T_> &f, const T_ *from, unsigned stride,
                                 layout_t layout)
{
    details::load(f, from, stride, layout == mem_row_major);
}

namespace details
{
// What element i holds in a fragment that was declared and not filled: bytes that no element has by a sum or a load.
template <class T_> SIM_UNWATCHED inline T_ unfilled_element(int i)
{
    T_ element;
    unsigned char bytes[sizeof(T_)];
    unsigned hash = (unsigned)i * 2654435761u + 0x5bd1e995u;
    for (size_t j = 0; j < sizeof(T_); j++, hash = hash * 1664525u + 1013904223u)
        bytes[j] = (unsigned char)(hash >> 24);
    __builtin_memcpy(&element, bytes, sizeof element);
    return element;
}
template <class Fragment> SIM_UNWATCHED SIM_NOINLINE inline void unfill(Fragment &f)
{
    for (int i = 0; i < f.num_elements; i++)
        f.x[i] = unfilled_element<typename Fragment::element_type>(i);
}
template <class Fragment> SIM_UNWATCHED SIM_NOINLINE inline bool is_unfilled(const Fragment &f)
{
    for (int i = 0; i < f.num_elements; i++) {
        typename Fragment::element_type wanted = unfilled_element<typename Fragment::element_type>(i);
        if (__builtin_memcmp(&f.x[i], &wanted, sizeof wanted) != 0)
            return false;
    }
    return true;
}
template <class Fragment> SIM_INLINE void check_filled(const Fragment &f)
{
    if (is_unfilled(f))
        sim_fragment_unfilled();
}
} // namespace details

template <int M_, int N_, int K_, class T_>
SIM_INLINE void store_matrix_sync(T_ *to, const fragment<accumulator, M_, N_, K_, T_> &f, unsigned stride,
                                  layout_t layout)
{
    typedef typename fragment<accumulator, M_, N_, K_, T_>::place place;
    int mine = details::lane();
    details::check_filled(f);
    sim_fragment_memory(to, stride, sizeof(T_), 1);
    for (int i = 0; i < f.num_elements; i++) {
        unsigned row = (unsigned)place::row(mine, i), column = (unsigned)place::column(mine, i);
        to[layout == mem_row_major ? (size_t)row * stride + column : (size_t)column * stride + row] = f.x[i];
    }
}

namespace details
{
// What an element counts as in a sum. tf32 has 10 bits of fraction, the rest is dropped.
template <class T_> struct as_number {
    template <class V_> SIM_UNWATCHED static float of(V_ value)
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

template <class A_, class B_, class C_, class D_> struct operands {
    const A_ *a;
    const B_ *b;
    const C_ *c;
    D_ *d;
};

template <int M_, int N_, int K_, class T_, class A_, class B_, class C_, class D_>
SIM_UNWATCHED inline void multiply(void **arguments, unsigned)
{
    typedef decltype(as_number<T_>::of(A_().x[0])) number;
    typedef operands<A_, B_, C_, D_> lanes;
    number a[M_][K_], b[K_][N_];
    for (int lane = 0; lane < LANES; lane++) {
        const lanes *mine = static_cast<const lanes *>(arguments[lane]);
        for (int i = 0; i < A_::num_elements; i++)
            a[A_::place::row(lane, i)][A_::place::column(lane, i)] = as_number<T_>::of(mine->a->x[i]);
        for (int i = 0; i < B_::num_elements; i++)
            b[B_::place::row(lane, i)][B_::place::column(lane, i)] = as_number<T_>::of(mine->b->x[i]);
    }
    for (int lane = 0; lane < LANES; lane++) {
        const lanes *mine = static_cast<const lanes *>(arguments[lane]);
        for (int i = 0; i < C_::num_elements; i++) {
            int row = C_::place::row(lane, i), column = C_::place::column(lane, i);
            number sum = (number)mine->c->x[i];
            for (int k = 0; k < K_; k++)
                sum += a[row][k] * b[k][column];
            mine->d->x[i] = (typename D_::element_type)sum;
        }
    }
}
} // namespace details

template <int M_, int N_, int K_, class T_, class LayoutA, class LayoutB, class C_, class D_>
SIM_INLINE void mma_sync(fragment<accumulator, M_, N_, K_, D_> &d, const fragment<matrix_a, M_, N_, K_, T_, LayoutA> &a,
                         const fragment<matrix_b, M_, N_, K_, T_, LayoutB> &b,
                         const fragment<accumulator, M_, N_, K_, C_> &c, bool = false)
{
    typedef fragment<matrix_a, M_, N_, K_, T_, LayoutA> fragment_a;
    typedef fragment<matrix_b, M_, N_, K_, T_, LayoutB> fragment_b;
    typedef fragment<accumulator, M_, N_, K_, C_> fragment_c;
    typedef fragment<accumulator, M_, N_, K_, D_> fragment_d;
    details::check_filled(a);
    details::check_filled(b);
    details::check_filled(c);
    fragment_d result = {}; // d and c may be the same
    details::operands<fragment_a, fragment_b, fragment_c, fragment_d> mine = {&a, &b, &c, &result};
    sim_warp_matrix(&mine, details::multiply<M_, N_, K_, T_, fragment_a, fragment_b, fragment_c, fragment_d>);
    d = result;
}
} // namespace wmma
} // namespace nvcuda

// Told of a fragment that is declared without a value (rewrite/fragments.c).
namespace sim
{
template <class Use, int M_, int N_, int K_, class T_, class Layout>
SIM_INLINE void unfilled(nvcuda::wmma::fragment<Use, M_, N_, K_, T_, Layout> &f)
{
    nvcuda::wmma::details::unfill(f);
}
template <class T_, size_t Count> SIM_INLINE void unfilled(T_ (&array)[Count])
{
    for (size_t i = 0; i < Count; i++)
        unfilled(array[i]);
}
} // namespace sim
