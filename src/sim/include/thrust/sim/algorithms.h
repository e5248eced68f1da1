// Thrust's algorithms that go over a range once or look for something: each brings its ranges to the host as views,
// works there, and puts results back. Prefix sums, sorting and keys are in ordered.h.
#pragma once

#include <thrust/sim/functional.h>
#include <thrust/sim/vectors.h>

namespace thrust
{
using sim_detail::CHANGE;
using sim_detail::KEEP;
using sim_detail::READ;
using sim_detail::WRITE;
template <class I> using sim_view = sim_detail::view<I>;

// --- one range into another ------------------------------------------------------------------------------------------

template <class In, class Out, class F> inline Out transform(In first, In last, Out out, F f)
{
    size_t n = (size_t)(last - first);
    sim_detail::apart_or_same(out, first, n);
    sim_view<In> from(first, n, READ);
    sim_view<Out> to(out, n, WRITE);
    for (size_t i = 0; i < n; i++)
        to[i] = f(from[i]);
    to.put_back(n);
    return sim_detail::behind(out, n);
}
template <class A, class B, class Out, class F> inline Out transform(A first, A last, B second, Out out, F f)
{
    size_t n = (size_t)(last - first);
    sim_detail::apart_or_same(out, first, n);
    sim_detail::apart_or_same(out, second, n);
    sim_view<A> a(first, n, READ);
    sim_view<B> b(second, n, READ);
    sim_view<Out> to(out, n, WRITE);
    for (size_t i = 0; i < n; i++)
        to[i] = f(a[i], b[i]);
    to.put_back(n);
    return sim_detail::behind(out, n);
}
template <class In, class Stencil, class Out, class F, class P>
inline Out transform_if(In first, In last, Stencil stencil, Out out, F f, P predicate)
{
    size_t n = (size_t)(last - first);
    sim_view<In> from(first, n, READ);
    sim_view<Stencil> chosen(stencil, n, READ);
    sim_view<Out> to(out, n, KEEP);
    for (size_t i = 0; i < n; i++)
        if (predicate(chosen[i]))
            to[i] = f(from[i]);
    to.put_back(n);
    return sim_detail::behind(out, n);
}
template <class In, class Out> inline Out sim_copy(In first, In last, Out out, std::true_type)
{
    return thrust::transform(first, last, out, [](const auto &value) { return value; });
}
// From a list, or a file: gathered first, for algorithms count their elements.
template <class In, class Out> inline Out sim_copy(In first, In last, Out out, std::false_type)
{
    const std::vector<sim_detail::value_of<In>> gathered(first, last);
    return thrust::sim_copy(gathered.begin(), gathered.end(), out, std::true_type());
}
template <class In, class Out> inline Out copy(In first, In last, Out out)
{
    return thrust::sim_copy(first, last, out, sim_detail::can_jump<In>());
}
template <class In, class Size, class Out> inline Out copy_n(In first, Size n, Out out)
{
    return thrust::copy(first, first + (ptrdiff_t)n, out);
}
template <class In, class Stencil, class Out, class P>
inline Out copy_if(In first, In last, Stencil stencil, Out out, P predicate)
{
    size_t n = (size_t)(last - first), kept = 0;
    sim_view<In> from(first, n, READ);
    sim_view<Stencil> chosen(stencil, n, READ);
    sim_view<Out> to(out, n, WRITE);
    for (size_t i = 0; i < n; i++)
        if (predicate(chosen[i]))
            to[kept++] = from[i];
    sim_detail::apart(out, kept, first, n);
    sim_detail::apart(out, kept, stencil, n);
    to.put_back(kept);
    return sim_detail::behind(out, kept);
}
template <class In, class Out, class P> inline Out copy_if(In first, In last, Out out, P predicate)
{
    return thrust::copy_if(first, last, first, out, predicate);
}
template <class Map, class In, class Out> inline Out gather(Map first, Map last, In from, Out out)
{
    auto picked = make_permutation_iterator(from, first);
    return thrust::copy(picked, picked + (last - first), out);
}
template <class In, class Map, class Out> inline void scatter(In first, In last, Map map, Out out)
{
    thrust::copy(first, last, make_permutation_iterator(out, map));
}
template <class In, class Out, class F> inline Out adjacent_difference(In first, In last, Out out, F f)
{
    size_t n = (size_t)(last - first);
    sim_view<In> from(first, n, READ);
    sim_view<Out> to(out, n, WRITE);
    for (size_t k = 0; k < n; k++) {
        size_t i = sim_detail::can_jump<Out>::value ? n - 1 - k : k; // from behind, for it may be the same range
        to[i] = i == 0 ? from[i] : f(from[i], from[i - 1]);
    }
    to.put_back(n);
    return sim_detail::behind(out, n);
}
template <class In, class Out> inline Out adjacent_difference(In first, In last, Out out)
{
    return thrust::adjacent_difference(first, last, out, minus<sim_detail::value_of<In>>());
}

// --- within a range --------------------------------------------------------------------------------------------------

template <class Out, class F> inline void sim_set_each(Out first, Out last, F f)
{
    size_t n = (size_t)(last - first);
    sim_view<Out> to(first, n, WRITE);
    for (size_t i = 0; i < n; i++)
        to[i] = f(i);
    to.put_back(n);
}
template <class Out, class T> inline void fill(Out first, Out last, const T &value)
{
    thrust::sim_set_each(first, last, [&](size_t) { return value; });
}
template <class Out, class Size, class T> inline Out fill_n(Out first, Size n, const T &value)
{
    thrust::fill(first, first + (ptrdiff_t)n, value);
    return first + (ptrdiff_t)n;
}
template <class Out, class T, class Step> inline void sequence(Out first, Out last, T start, Step step)
{
    typedef sim_detail::value_of<Out> value;
    thrust::sim_set_each(first, last, [=](size_t i) { return (value)(start + (T)i * step); });
}
template <class Out, class T> inline void sequence(Out first, Out last, T start)
{
    thrust::sequence(first, last, start, (T)1);
}
template <class Out> inline void sequence(Out first, Out last)
{
    thrust::sequence(first, last, sim_detail::value_of<Out>(0));
}
template <class Out, class F> inline void tabulate(Out first, Out last, F f)
{
    thrust::sim_set_each(first, last, [&](size_t i) { return f((ptrdiff_t)i); });
}
template <class Out, class F> inline void generate(Out first, Out last, F f)
{
    thrust::sim_set_each(first, last, [&](size_t) { return f(); });
}
template <class In, class F> inline In for_each(In first, In last, F f)
{
    size_t n = (size_t)(last - first);
    sim_view<In> range(first, n, CHANGE);
    for (size_t i = 0; i < n; i++)
        f(range[i]);
    range.put_back(n);
    return last;
}
template <class In, class Size, class F> inline In for_each_n(In first, Size n, F f)
{
    return thrust::for_each(first, first + (ptrdiff_t)n, f);
}
template <class In, class P, class T> inline void replace_if(In first, In last, P predicate, const T &value)
{
    typedef sim_detail::value_of<In> element;
    thrust::transform(first, last, first, [&](const element &x) { return predicate(x) ? (element)value : x; });
}
template <class In, class T> inline void replace(In first, In last, const T &old, const T &value)
{
    thrust::replace_if(
        first, last, [&](const sim_detail::value_of<In> &x) { return x == old; }, value);
}
template <class In> inline void reverse(In first, In last)
{
    size_t n = (size_t)(last - first);
    sim_view<In> range(first, n, CHANGE);
    for (size_t i = 0; i < n / 2; i++)
        std::swap(range[i], range[n - 1 - i]);
    range.put_back(n);
}
// Any order is right: Thrust promises none.
template <class In, class Engine> inline void shuffle(In first, In last, Engine &&engine)
{
    size_t n = (size_t)(last - first);
    sim_view<In> range(first, n, CHANGE);
    for (size_t i = n; i > 1; i--) {
        size_t other = (size_t)(engine() - engine.min()) % i;
        sim_detail::value_of<In> kept = range[i - 1];
        range[i - 1] = range[other];
        range[other] = kept;
    }
    range.put_back(n);
}
template <class A, class B> inline B swap_ranges(A first, A last, B second)
{
    size_t n = (size_t)(last - first);
    sim_view<A> a(first, n, CHANGE);
    sim_view<B> b(second, n, CHANGE);
    for (size_t i = 0; i < n; i++)
        std::swap(a[i], b[i]);
    a.put_back(n);
    b.put_back(n);
    return second + (ptrdiff_t)n;
}
template <class In, class P> inline In remove_if(In first, In last, P predicate)
{
    size_t n = (size_t)(last - first), kept = 0;
    sim_view<In> range(first, n, CHANGE);
    for (size_t i = 0; i < n; i++)
        if (!predicate(range[i]))
            range[kept++] = range[i];
    range.put_back(kept);
    return first + (ptrdiff_t)kept;
}
template <class In, class Stencil, class P> inline In remove_if(In first, In last, Stencil stencil, P predicate)
{
    size_t n = (size_t)(last - first), kept = 0;
    sim_view<In> range(first, n, CHANGE);
    sim_view<Stencil> chosen(stencil, n, READ);
    for (size_t i = 0; i < n; i++)
        if (!predicate(chosen[i]))
            range[kept++] = range[i];
    range.put_back(kept);
    return first + (ptrdiff_t)kept;
}
template <class In, class Out, class P> inline Out remove_copy_if(In first, In last, Out out, P predicate)
{
    return thrust::copy_if(first, last, out, [&](const sim_detail::value_of<In> &x) { return !predicate(x); });
}
template <class In, class T> inline In remove(In first, In last, const T &value)
{
    return thrust::remove_if(first, last, [&](const sim_detail::value_of<In> &x) { return x == value; });
}
template <class In, class P> inline In partition(In first, In last, P predicate)
{
    size_t n = (size_t)(last - first), at = 0;
    std::vector<sim_detail::value_of<In>> rest;
    sim_view<In> range(first, n, CHANGE);
    for (size_t i = 0; i < n; i++) {
        if (predicate(range[i]))
            range[at++] = range[i];
        else
            rest.push_back(range[i]);
    }
    for (size_t i = 0; i < rest.size(); i++)
        range[at + i] = rest[i];
    range.put_back(n);
    return first + (ptrdiff_t)at;
}
template <class In, class P> inline In stable_partition(In first, In last, P predicate)
{
    return thrust::partition(first, last, predicate);
}

// --- one value from a range ------------------------------------------------------------------------------------------

template <class In, class F, class T, class R> inline T transform_reduce(In first, In last, F f, T start, R combine)
{
    size_t n = (size_t)(last - first);
    sim_view<In> range(first, n, READ);
    for (size_t i = 0; i < n; i++)
        start = combine(start, f(range[i]));
    return start;
}
template <class In, class T, class R> inline T reduce(In first, In last, T start, R combine)
{
    return thrust::transform_reduce(
        first, last, [](const auto &x) { return x; }, start, combine);
}
template <class In, class T> inline T reduce(In first, In last, T start)
{
    return thrust::reduce(first, last, start, plus<T>());
}
template <class In> inline sim_detail::value_of<In> reduce(In first, In last)
{
    return thrust::reduce(first, last, sim_detail::value_of<In>(0));
}
template <class A, class B, class T, class R, class F>
inline T inner_product(A first, A last, B second, T start, R combine, F f)
{
    size_t n = (size_t)(last - first);
    sim_view<A> a(first, n, READ);
    sim_view<B> b(second, n, READ);
    for (size_t i = 0; i < n; i++)
        start = combine(start, f(a[i], b[i]));
    return start;
}
template <class A, class B, class T> inline T inner_product(A first, A last, B second, T start)
{
    return thrust::inner_product(first, last, second, start, plus<T>(), multiplies<T>());
}
template <class In, class P> inline In find_if(In first, In last, P predicate)
{
    size_t n = (size_t)(last - first);
    sim_view<In> range(first, n, READ);
    for (size_t i = 0; i < n; i++)
        if (predicate(range[i]))
            return first + (ptrdiff_t)i;
    return last;
}
template <class In, class T> inline In find(In first, In last, const T &value)
{
    return thrust::find_if(first, last, [&](const sim_detail::value_of<In> &x) { return x == value; });
}
template <class In, class P> inline ptrdiff_t count_if(In first, In last, P predicate)
{
    return thrust::transform_reduce(
        first, last, [&](const sim_detail::value_of<In> &x) { return predicate(x) ? (ptrdiff_t)1 : (ptrdiff_t)0; },
        (ptrdiff_t)0, plus<ptrdiff_t>());
}
template <class In, class T> inline ptrdiff_t count(In first, In last, const T &value)
{
    return thrust::count_if(first, last, [&](const sim_detail::value_of<In> &x) { return x == value; });
}
template <class In, class P> inline bool any_of(In first, In last, P predicate)
{
    return thrust::find_if(first, last, predicate) != last;
}
template <class In, class P> inline bool none_of(In first, In last, P predicate)
{
    return !thrust::any_of(first, last, predicate);
}
template <class In, class P> inline bool all_of(In first, In last, P predicate)
{
    return thrust::none_of(first, last, [&](const sim_detail::value_of<In> &x) { return !predicate(x); });
}
template <class A, class B> inline bool equal(A first, A last, B second)
{
    size_t n = (size_t)(last - first);
    sim_view<A> a(first, n, READ);
    sim_view<B> b(second, n, READ);
    for (size_t i = 0; i < n; i++)
        if (!(a[i] == b[i]))
            return false;
    return true;
}
template <class In, class Less> inline In min_element(In first, In last, Less less_than)
{
    size_t n = (size_t)(last - first), best = 0;
    sim_view<In> range(first, n, READ);
    for (size_t i = 1; i < n; i++)
        if (less_than(range[i], range[best]))
            best = i;
    return first + (ptrdiff_t)best;
}
template <class In> inline In min_element(In first, In last)
{
    return thrust::min_element(first, last, less<sim_detail::value_of<In>>());
}
template <class In, class Less> inline In max_element(In first, In last, Less less_than)
{
    typedef sim_detail::value_of<In> element;
    return thrust::min_element(first, last, [&](const element &a, const element &b) { return less_than(b, a); });
}
template <class In> inline In max_element(In first, In last)
{
    return thrust::max_element(first, last, less<sim_detail::value_of<In>>());
}
template <class In, class F> inline std::pair<In, In> minmax_element(In first, In last, F less)
{
    return std::make_pair(thrust::min_element(first, last, less), thrust::max_element(first, last, less));
}
template <class In> inline std::pair<In, In> minmax_element(In first, In last)
{
    return std::make_pair(thrust::min_element(first, last), thrust::max_element(first, last));
}
} // namespace thrust
