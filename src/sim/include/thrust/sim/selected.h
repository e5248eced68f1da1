// Thrust's algorithms with a stencil (a second range that says which elements are meant), those that write the elements
// meant somewhere else, and those on sorted sets.
#pragma once

#include <thrust/sim/ordered.h>

namespace thrust
{
// --- a stencil -------------------------------------------------------------------------------------------------------

template <class In, class Stencil, class Out, class P, class T>
inline Out replace_copy_if(In first, In last, Stencil stencil, Out out, P predicate, const T &value)
{
    typedef sim_detail::value_of<Out> element;
    return thrust::transform(first, last, stencil, out, [&](const auto &x, const auto &chosen) {
        return predicate(chosen) ? (element)value : (element)x;
    });
}
template <class In, class Out, class P, class T>
inline Out replace_copy_if(In first, In last, Out out, P predicate, const T &value)
{
    return thrust::replace_copy_if(first, last, first, out, predicate, value);
}
template <class In, class Out, class T>
inline Out replace_copy(In first, In last, Out out, const T &old, const T &value)
{
    return thrust::replace_copy_if(
        first, last, out, [&](const auto &x) { return x == old; }, value);
}
template <class In, class Stencil, class P, class T>
inline void replace_if(In first, In last, Stencil stencil, P predicate, const T &value)
{
    thrust::replace_copy_if(first, last, stencil, first, predicate, value);
}
template <class In, class Map, class Stencil, class Out, class P>
inline void scatter_if(In first, In last, Map map, Stencil stencil, Out out, P predicate)
{
    thrust::transform_if(
        first, last, stencil, make_permutation_iterator(out, map), [](const auto &x) { return x; }, predicate);
}
template <class In, class Map, class Stencil, class Out>
inline void scatter_if(In first, In last, Map map, Stencil stencil, Out out)
{
    thrust::scatter_if(first, last, map, stencil, out, [](const auto &x) { return (bool)x; });
}
template <class Map, class Stencil, class In, class Out, class P>
inline Out gather_if(Map first, Map last, Stencil stencil, In from, Out out, P predicate)
{
    auto picked = make_permutation_iterator(from, first);
    return thrust::transform_if(
        picked, picked + (last - first), stencil, out, [](const auto &x) { return x; }, predicate);
}
template <class Map, class Stencil, class In, class Out>
inline Out gather_if(Map first, Map last, Stencil stencil, In from, Out out)
{
    return thrust::gather_if(first, last, stencil, from, out, [](const auto &x) { return (bool)x; });
}
template <class In, class Stencil, class P> inline In stable_partition(In first, In last, Stencil stencil, P predicate)
{
    size_t n = (size_t)(last - first);
    sim_view<In> range(first, n, CHANGE);
    sim_view<Stencil> chosen(stencil, n, READ);
    std::vector<size_t> order, rest;
    for (size_t i = 0; i < n; i++)
        (predicate(chosen[i]) ? order : rest).push_back(i);
    size_t at = order.size();
    order.insert(order.end(), rest.begin(), rest.end());
    thrust::sim_reorder<In>(range, order);
    return first + (ptrdiff_t)at;
}
template <class In, class Stencil, class P> inline In partition(In first, In last, Stencil stencil, P predicate)
{
    return thrust::stable_partition(first, last, stencil, predicate);
}

// --- to another place ------------------------------------------------------------------------------------------------

template <class In, class Stencil, class Out, class P>
inline Out remove_copy_if(In first, In last, Stencil stencil, Out out, P predicate)
{
    return thrust::copy_if(first, last, stencil, out, [&](const auto &x) { return !predicate(x); });
}
template <class In, class Out, class T> inline Out remove_copy(In first, In last, Out out, const T &value)
{
    return thrust::remove_copy_if(first, last, out, [&](const auto &x) { return x == value; });
}
template <class In, class Out, class Rest, class P>
inline std::pair<Out, Rest> partition_copy(In first, In last, Out out, Rest rest, P predicate)
{
    Rest rest_end = thrust::remove_copy_if(first, last, rest, predicate);
    return std::make_pair(thrust::copy_if(first, last, out, predicate), rest_end);
}
template <class In, class Out, class Rest, class P>
inline std::pair<Out, Rest> stable_partition_copy(In first, In last, Out out, Rest rest, P predicate)
{
    return thrust::partition_copy(first, last, out, rest, predicate);
}
template <class In, class Out> inline Out reverse_copy(In first, In last, Out out)
{
    Out end = thrust::copy(first, last, out);
    thrust::reverse(out, end);
    return end;
}
template <class In, class Out, class Same> inline Out unique_copy(In first, In last, Out out, Same same)
{
    size_t n = (size_t)(last - first), kept = 0;
    sim_view<In> from(first, n, READ);
    sim_view<Out> to(out, n, WRITE);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !same(from[i - 1], from[i]))
            to[kept++] = from[i];
    to.put_back(kept);
    return sim_detail::behind(out, kept);
}
template <class In, class Out> inline Out unique_copy(In first, In last, Out out)
{
    return thrust::unique_copy(first, last, out, equal_to<>());
}
template <class In, class Out> inline Out uninitialized_copy(In first, In last, Out out)
{
    return thrust::copy(first, last, out);
}
template <class Out, class T> inline void uninitialized_fill(Out first, Out last, const T &value)
{
    thrust::fill(first, last, value);
}
template <class Out, class Size, class F> inline Out generate_n(Out first, Size n, F f)
{
    thrust::generate(first, first + (ptrdiff_t)n, f);
    return first + (ptrdiff_t)n;
}

// --- looking ---------------------------------------------------------------------------------------------------------

template <class In, class P> inline In find_if_not(In first, In last, P predicate)
{
    return thrust::find_if(first, last, [&](const auto &x) { return !predicate(x); });
}
template <class In, class P> inline In partition_point(In first, In last, P predicate)
{
    return thrust::find_if_not(first, last, predicate);
}
template <class In, class P> inline bool is_partitioned(In first, In last, P predicate)
{
    return thrust::none_of(thrust::partition_point(first, last, predicate), last, predicate);
}
template <class A, class B> inline std::pair<A, B> mismatch(A first, A last, B second)
{
    size_t n = (size_t)(last - first), i = 0;
    sim_view<A> a(first, n, READ);
    sim_view<B> b(second, n, READ);
    while (i < n && a[i] == b[i])
        i++;
    return std::make_pair(first + (ptrdiff_t)i, second + (ptrdiff_t)i);
}
template <class In, class T> inline std::pair<In, In> equal_range(In first, In last, const T &value)
{
    return std::make_pair(thrust::lower_bound(first, last, value), thrust::upper_bound(first, last, value));
}

// --- sorted sets -----------------------------------------------------------------------------------------------------

// Which of two sorted sets an element of the result comes from.
enum sim_set_part { SIM_ONLY_FIRST = 1, SIM_ONLY_SECOND = 2, SIM_BOTH = 4 };

template <class A, class B, class Out, class Less>
inline Out sim_set(unsigned parts, A first, A last, B second, B second_last, Out out, Less less_than)
{
    size_t n = (size_t)(last - first), m = (size_t)(second_last - second), i = 0, j = 0, kept = 0;
    sim_view<A> a(first, n, READ);
    sim_view<B> b(second, m, READ);
    sim_view<Out> to(out, n + m, WRITE);
    while (i < n || j < m) {
        bool only_first = j == m || (i < n && less_than(a[i], b[j]));
        bool only_second = !only_first && (i == n || less_than(b[j], a[i]));
        if (parts & (only_first ? SIM_ONLY_FIRST : only_second ? SIM_ONLY_SECOND : SIM_BOTH))
            to[kept++] = only_second ? b[j] : a[i];
        i += !only_second;
        j += !only_first;
    }
    to.put_back(kept);
    return sim_detail::behind(out, kept);
}
#define SIM_THRUST_SET(name, parts)                                                                                    \
    template <class A, class B, class Out, class Less>                                                                 \
    inline Out name(A first, A last, B second, B second_last, Out out, Less less_than)                                 \
    {                                                                                                                  \
        return thrust::sim_set(parts, first, last, second, second_last, out, less_than);                               \
    }                                                                                                                  \
    template <class A, class B, class Out> inline Out name(A first, A last, B second, B second_last, Out out)          \
    {                                                                                                                  \
        return thrust::sim_set(parts, first, last, second, second_last, out, less<>());                                \
    }
SIM_THRUST_SET(set_union, SIM_ONLY_FIRST | SIM_ONLY_SECOND | SIM_BOTH)
SIM_THRUST_SET(set_intersection, SIM_BOTH)
SIM_THRUST_SET(set_difference, SIM_ONLY_FIRST)
SIM_THRUST_SET(set_symmetric_difference, SIM_ONLY_FIRST | SIM_ONLY_SECOND)
#undef SIM_THRUST_SET
} // namespace thrust
