// Thrust's algorithms in which order matters: prefix sums, sorting, keys, searching in sorted ranges.
#pragma once

#include <numeric>

#include <thrust/sim/algorithms.h>

namespace thrust
{
// --- prefix sums -----------------------------------------------------------------------------------------------------

template <class In, class Out, class F, class R>
inline Out transform_inclusive_scan(In first, In last, Out out, F f, R combine)
{
    typedef typename std::decay<decltype(f(std::declval<sim_detail::value_of<In>>()))>::type value;
    size_t n = (size_t)(last - first);
    sim_detail::apart_or_same(out, first, n);
    sim_view<In> from(first, n, READ);
    sim_view<Out> to(out, n, WRITE);
    value sum = value();
    for (size_t i = 0; i < n; i++)
        to[i] = sum = i == 0 ? (value)f(from[i]) : (value)combine(sum, f(from[i]));
    to.put_back(n);
    return sim_detail::behind(out, n);
}
template <class In, class Out, class F, class T, class R>
inline Out transform_exclusive_scan(In first, In last, Out out, F f, T start, R combine)
{
    size_t n = (size_t)(last - first);
    sim_detail::apart_or_same(out, first, n);
    sim_view<In> from(first, n, READ);
    sim_view<Out> to(out, n, WRITE);
    for (size_t i = 0; i < n; i++) {
        T next = (T)combine(start, f(from[i])); // before the store: in and out may be one
        to[i] = start;
        start = next;
    }
    to.put_back(n);
    return sim_detail::behind(out, n);
}
template <class In, class Out, class R> inline Out inclusive_scan(In first, In last, Out out, R combine)
{
    return thrust::transform_inclusive_scan(
        first, last, out, [](const auto &x) { return x; }, combine);
}
template <class In, class Out> inline Out inclusive_scan(In first, In last, Out out)
{
    return thrust::inclusive_scan(first, last, out, plus<sim_detail::value_of<In>>());
}
template <class In, class Out, class T, class R>
inline Out exclusive_scan(In first, In last, Out out, T start, R combine)
{
    return thrust::transform_exclusive_scan(
        first, last, out, [](const auto &x) { return x; }, start, combine);
}
template <class In, class Out, class T> inline Out exclusive_scan(In first, In last, Out out, T start)
{
    return thrust::exclusive_scan(first, last, out, start, plus<T>());
}
template <class In, class Out> inline Out exclusive_scan(In first, In last, Out out)
{
    return thrust::exclusive_scan(first, last, out, sim_detail::value_of<In>(0));
}
template <class Keys, class In, class Out, class Same, class R>
inline Out inclusive_scan_by_key(Keys first, Keys last, In values, Out out, Same same, R combine)
{
    size_t n = (size_t)(last - first);
    sim_view<Keys> keys(first, n, READ);
    sim_view<In> from(values, n, READ);
    sim_view<Out> to(out, n, WRITE);
    sim_detail::value_of<In> sum{};
    for (size_t i = 0; i < n; i++) {
        sim_detail::value_of<In> value = from[i];
        sum = i > 0 && same(keys[i - 1], keys[i]) ? (sim_detail::value_of<In>)combine(sum, value) : value;
        to[i] = sum;
    }
    to.put_back(n);
    return sim_detail::behind(out, n);
}
template <class Keys, class In, class Out, class Same>
inline Out inclusive_scan_by_key(Keys first, Keys last, In values, Out out, Same same)
{
    return thrust::inclusive_scan_by_key(first, last, values, out, same, plus<>());
}
template <class Keys, class In, class Out> inline Out inclusive_scan_by_key(Keys first, Keys last, In values, Out out)
{
    return thrust::inclusive_scan_by_key(first, last, values, out, equal_to<>());
}
template <class Keys, class In, class Out, class T, class Same, class R>
inline Out exclusive_scan_by_key(Keys first, Keys last, In values, Out out, T start, Same same, R combine)
{
    size_t n = (size_t)(last - first);
    sim_view<Keys> keys(first, n, READ);
    sim_view<In> from(values, n, READ);
    sim_view<Out> to(out, n, WRITE);
    T sum = start, next = start;
    for (size_t i = 0; i < n; i++) {
        sum = i > 0 && same(keys[i - 1], keys[i]) ? next : start;
        next = (T)combine(sum, from[i]); // before the store: in and out may be one
        to[i] = sum;
    }
    to.put_back(n);
    return sim_detail::behind(out, n);
}
template <class Keys, class In, class Out, class T, class Same>
inline Out exclusive_scan_by_key(Keys first, Keys last, In values, Out out, T start, Same same)
{
    return thrust::exclusive_scan_by_key(first, last, values, out, start, same, plus<>());
}
template <class Keys, class In, class Out, class T>
inline Out exclusive_scan_by_key(Keys first, Keys last, In values, Out out, T start)
{
    return thrust::exclusive_scan_by_key(first, last, values, out, start, equal_to<>());
}
template <class Keys, class In, class Out> inline Out exclusive_scan_by_key(Keys first, Keys last, In values, Out out)
{
    return thrust::exclusive_scan_by_key(first, last, values, out, sim_detail::value_of<In>{});
}

// --- runs of equal keys ----------------------------------------------------------------------------------------------

template <class Keys, class In, class OutKeys, class Out, class Same, class R>
inline std::pair<OutKeys, Out> reduce_by_key(Keys first, Keys last, In values, OutKeys out_keys, Out out, Same same,
                                             R combine)
{
    size_t n = (size_t)(last - first), runs = 0;
    sim_view<Keys> keys(first, n, READ);
    sim_view<In> from(values, n, READ);
    sim_view<OutKeys> to_keys(out_keys, n, WRITE);
    sim_view<Out> to(out, n, WRITE);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && same(keys[i - 1], keys[i])) {
            to[runs - 1] = combine(to[runs - 1], from[i]);
            continue;
        }
        to_keys[runs] = keys[i];
        to[runs++] = from[i];
    }
    sim_detail::apart(out_keys, runs, first, n);
    sim_detail::apart(out_keys, runs, values, n);
    sim_detail::apart(out, runs, first, n);
    sim_detail::apart(out, runs, values, n);
    to_keys.put_back(runs);
    to.put_back(runs);
    return std::make_pair(sim_detail::behind(out_keys, runs), sim_detail::behind(out, runs));
}
template <class Keys, class In, class OutKeys, class Out, class Same>
inline std::pair<OutKeys, Out> reduce_by_key(Keys first, Keys last, In values, OutKeys out_keys, Out out, Same same)
{
    return thrust::reduce_by_key(first, last, values, out_keys, out, same, plus<>());
}
template <class Keys, class In, class OutKeys, class Out>
inline std::pair<OutKeys, Out> reduce_by_key(Keys first, Keys last, In values, OutKeys out_keys, Out out)
{
    return thrust::reduce_by_key(first, last, values, out_keys, out, equal_to<>());
}
template <class In, class Same> inline In unique(In first, In last, Same same)
{
    size_t n = (size_t)(last - first), kept = 0;
    sim_view<In> range(first, n, CHANGE);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || !same(range[kept - 1], range[i]))
            range[kept++] = range[i];
    range.put_back(kept);
    return first + (ptrdiff_t)kept;
}
template <class In> inline In unique(In first, In last)
{
    return thrust::unique(first, last, equal_to<>());
}
template <class Keys, class In, class OutKeys, class Out, class Same>
inline std::pair<OutKeys, Out> unique_by_key_copy(Keys first, Keys last, In values, OutKeys out_keys, Out out,
                                                  Same same)
{
    return thrust::reduce_by_key(first, last, values, out_keys, out, same,
                                 [](const auto &kept, const auto &) { return kept; });
}
template <class Keys, class In, class OutKeys, class Out>
inline std::pair<OutKeys, Out> unique_by_key_copy(Keys first, Keys last, In values, OutKeys out_keys, Out out)
{
    return thrust::unique_by_key_copy(first, last, values, out_keys, out, equal_to<>());
}
template <class Keys, class In> inline std::pair<Keys, In> unique_by_key(Keys first, Keys last, In values)
{
    size_t n = (size_t)(last - first), kept = 0;
    sim_view<Keys> keys(first, n, CHANGE);
    sim_view<In> range(values, n, CHANGE);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || !(keys[kept - 1] == keys[i])) {
            keys[kept] = keys[i];
            range[kept++] = range[i];
        }
    keys.put_back(kept);
    range.put_back(kept);
    return std::make_pair(first + (ptrdiff_t)kept, values + (ptrdiff_t)kept);
}

// --- sorting ---------------------------------------------------------------------------------------------------------

// The order in which elements would stand, then each moved there: keys and values need not be of one kind.
template <class Keys, class Less> inline std::vector<size_t> sim_order(sim_view<Keys> &keys, size_t n, Less less_than)
{
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), (size_t)0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return less_than(keys[a], keys[b]); });
    return order;
}
template <class Iterator> inline void sim_reorder(sim_view<Iterator> &range, const std::vector<size_t> &order)
{
    std::vector<sim_detail::value_of<Iterator>> moved;
    moved.reserve(order.size());
    for (size_t from : order)
        moved.push_back(range[from]);
    for (size_t i = 0; i < order.size(); i++)
        range[i] = moved[i];
    range.put_back(order.size());
}
// Without memory for an order, which a kernel's thread does not have: halves are sorted and merged where they lie, by
// exchanges alone. `before` and `exchange` take the places of two elements.
template <class Before, class Exchange> struct sim_in_place {
    Before before;
    Exchange exchange;

    void sort(size_t first, size_t last)
    {
        if (last - first < 2)
            return;
        size_t middle = first + (last - first) / 2;
        sort(first, middle);
        sort(middle, last);
        merge(first, middle, last);
    }

  private:
    void reverse(size_t first, size_t last)
    {
        for (; first + 1 < last; first++, last--)
            exchange(first, last - 1);
    }
    // The first of [first, last) that is not before `other`, or, after: that `other` is before.
    size_t bound(size_t first, size_t last, size_t other, bool after)
    {
        while (first < last) {
            size_t middle = first + (last - first) / 2;
            if (after ? !before(other, middle) : before(middle, other))
                first = middle + 1;
            else
                last = middle;
        }
        return first;
    }
    void merge(size_t first, size_t middle, size_t last)
    {
        if (first == middle || middle == last)
            return;
        if (last - first == 2) {
            if (before(middle, first))
                exchange(first, middle);
            return;
        }
        bool left = middle - first > last - middle;
        size_t cut = left ? first + (middle - first) / 2 : bound(first, middle, middle + (last - middle) / 2, true);
        size_t end = left ? bound(middle, last, cut, false) : middle + (last - middle) / 2;
        reverse(cut, middle);
        reverse(middle, end);
        reverse(cut, end);
        size_t between = cut + (end - middle);
        merge(first, cut, between);
        merge(between, end, last);
    }
};
template <class Before, class Exchange> inline void sim_sort_in_place(size_t n, Before before, Exchange exchange)
{
    sim_in_place<Before, Exchange>{before, exchange}.sort(0, n);
}
template <class Iterator> inline void sim_exchange(sim_view<Iterator> &range, size_t a, size_t b)
{
    sim_detail::value_of<Iterator> kept = range[a];
    range[a] = range[b];
    range[b] = kept;
}
template <class In, class Less> inline void stable_sort(In first, In last, Less less_than)
{
    size_t n = (size_t)(last - first);
    sim_view<In> range(first, n, CHANGE);
    if (sim_in_kernel())
        thrust::sim_sort_in_place(
            n, [&](size_t a, size_t b) { return less_than(range[a], range[b]); },
            [&](size_t a, size_t b) { thrust::sim_exchange<In>(range, a, b); });
    else
        thrust::sim_reorder<In>(range, thrust::sim_order<In>(range, n, less_than));
}
template <class In> inline void stable_sort(In first, In last)
{
    thrust::stable_sort(first, last, less<>());
}
template <class In, class Less> inline void sort(In first, In last, Less less_than)
{
    thrust::stable_sort(first, last, less_than);
}
template <class In> inline void sort(In first, In last)
{
    thrust::stable_sort(first, last, less<>());
}
template <class Keys, class In, class Less>
inline void stable_sort_by_key(Keys first, Keys last, In values, Less less_than)
{
    size_t n = (size_t)(last - first);
    sim_view<Keys> keys(first, n, CHANGE);
    sim_view<In> range(values, n, CHANGE);
    if (sim_in_kernel()) {
        thrust::sim_sort_in_place(
            n, [&](size_t a, size_t b) { return less_than(keys[a], keys[b]); },
            [&](size_t a, size_t b) {
                thrust::sim_exchange<Keys>(keys, a, b);
                thrust::sim_exchange<In>(range, a, b);
            });
        return;
    }
    std::vector<size_t> order = thrust::sim_order<Keys>(keys, n, less_than);
    thrust::sim_reorder<Keys>(keys, order);
    thrust::sim_reorder<In>(range, order);
}
template <class Keys, class In> inline void stable_sort_by_key(Keys first, Keys last, In values)
{
    thrust::stable_sort_by_key(first, last, values, less<>());
}
template <class Keys, class In, class Less> inline void sort_by_key(Keys first, Keys last, In values, Less less_than)
{
    thrust::stable_sort_by_key(first, last, values, less_than);
}
template <class Keys, class In> inline void sort_by_key(Keys first, Keys last, In values)
{
    thrust::stable_sort_by_key(first, last, values, less<>());
}
template <class In> inline bool is_sorted(In first, In last)
{
    size_t n = (size_t)(last - first);
    sim_view<In> range(first, n, READ);
    for (size_t i = 1; i < n; i++)
        if (range[i] < range[i - 1])
            return false;
    return true;
}

// --- searching -------------------------------------------------------------------------------------------------------

template <class In, class P> inline size_t sim_first_not(sim_view<In> &range, size_t n, P before)
{
    size_t low = 0;
    while (n > 0) {
        size_t half = n / 2;
        if (before(range[low + half])) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}
template <class In, class T> inline In lower_bound(In first, In last, const T &value)
{
    size_t n = (size_t)(last - first);
    sim_view<In> range(first, n, READ);
    return first + (ptrdiff_t)thrust::sim_first_not<In>(range, n, [&](const auto &x) { return x < value; });
}
template <class In, class T> inline In upper_bound(In first, In last, const T &value)
{
    size_t n = (size_t)(last - first);
    sim_view<In> range(first, n, READ);
    return first + (ptrdiff_t)thrust::sim_first_not<In>(range, n, [&](const auto &x) { return !(value < x); });
}
template <class In, class Values, class Out>
inline Out lower_bound(In first, In last, Values values, Values values_end, Out out)
{
    size_t n = (size_t)(last - first);
    sim_view<In> range(first, n, READ);
    return thrust::transform(values, values_end, out, [&](const auto &value) {
        return thrust::sim_first_not<In>(range, n, [&](const auto &x) { return x < value; });
    });
}
template <class In, class Values, class Out>
inline Out upper_bound(In first, In last, Values values, Values values_end, Out out)
{
    size_t n = (size_t)(last - first);
    sim_view<In> range(first, n, READ);
    return thrust::transform(values, values_end, out, [&](const auto &value) {
        return thrust::sim_first_not<In>(range, n, [&](const auto &x) { return !(value < x); });
    });
}
template <class In, class T> inline bool binary_search(In first, In last, const T &value)
{
    In found = thrust::lower_bound(first, last, value);
    return found != last && !(value < (sim_detail::value_of<In>)*found);
}
template <class A, class B, class Out> inline Out merge(A first, A last, B second, B second_last, Out out)
{
    size_t n = (size_t)(last - first), m = (size_t)(second_last - second), i = 0, j = 0;
    sim_view<A> a(first, n, READ);
    sim_view<B> b(second, m, READ);
    sim_view<Out> to(out, n + m, WRITE);
    sim_detail::apart(out, n + m, first, n);
    sim_detail::apart(out, n + m, second, m);
    while (i + j < n + m) {
        bool from_b = i == n || (j < m && b[j] < a[i]);
        to[i + j] = from_b ? b[j] : a[i];
        (from_b ? j : i)++;
    }
    to.put_back(n + m);
    return sim_detail::behind(out, n + m);
}
} // namespace thrust
