// Thrust: vectors, iterators and algorithms give what the standard library gives, and kernels see the same memory.
#include <cstdio>
#include <iterator>
#include <list>
#include <sstream>
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/mismatch.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/replace.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

static int failures;

static void expect(const char *what, double got, double wanted)
{
    if (got != wanted && failures++ < 10)
        printf("%s: %g, not %g\n", what, got, wanted);
}

struct square {
    __host__ __device__ float operator()(float x) const
    {
        return x * x;
    }
};

struct odd {
    __host__ __device__ bool operator()(int x) const
    {
        return x % 2 == 1;
    }
};

// Iterators that only go from one element to the next, as every tutorial prints a vector.
static void sequential_iterators()
{
    thrust::device_vector<int> v(4);
    thrust::sequence(v.begin(), v.end(), 1);
    std::ostringstream text;
    thrust::copy(v.begin(), v.end(), std::ostream_iterator<int>(text, " "));
    thrust::copy_n(v.begin(), 2, std::ostream_iterator<int>(text, ","));
    thrust::copy_if(v.begin(), v.end(), std::ostream_iterator<int>(text, ";"), odd());
    thrust::adjacent_difference(v.begin(), v.end(), std::ostream_iterator<int>(text, "."));
    expect("printed", text.str() == "1 2 3 4 1,2,1;3;1.1.1.1.", 1);
    std::vector<int> grown;
    thrust::copy(v.begin(), v.end(), std::back_inserter(grown));
    thrust::inclusive_scan(v.begin(), v.end(), std::back_inserter(grown));
    expect("grown", grown.size(), 8);
    expect("grown element", grown[7], 10);
    std::list<int> list(3, 5);
    auto behind = thrust::copy(v.begin(), v.begin() + 2, list.begin());
    expect("list", *behind, 5);
    expect("list element", list.front() + *++list.begin(), 3);
    thrust::copy(list.begin(), list.end(), v.begin() + 1);
    thrust::device_vector<int> of_list(list.begin(), list.end());
    expect("made of a list", of_list.size() * 10 + of_list[2], 35);
    expect("from a list", v[3], 5);
}

// Elements looked up by others: iterators that make their elements are sources of a copy, too.
static void looked_up()
{
    thrust::device_vector<int> at(3), table(5), found(3);
    thrust::sequence(table.begin(), table.end(), 10);
    at[0] = 4, at[1] = 0, at[2] = 2;
    thrust::gather(at.begin(), at.end(), table.begin(), found.begin());
    expect("gathered", found[0] * 10000 + found[1] * 100 + found[2], 141012);
    thrust::scatter(found.begin(), found.end(), at.begin(), table.begin());
    expect("scattered", table[4] * 10000 + table[0] * 100 + table[2], 141012);
}

struct store_sum {
    template <class Tuple> __host__ __device__ void operator()(Tuple t) const
    {
        thrust::get<2>(t) = thrust::get<0>(t) + thrust::get<1>(t);
    }
};

__global__ void twice(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] *= 2;
}

// The digits of a range as one number, for short ranges.
template <class Range> static double digits(const Range &range, ptrdiff_t count)
{
    double number = 0;
    for (ptrdiff_t i = 0; i < count; i++)
        number = 10 * number + range[i];
    return number;
}

static void stencils()
{
    const int numbers[] = {1, 2, 3, 4, 5, 6}, marks[] = {1, 0, 0, 1, 1, 0}, places[] = {5, 4, 3, 2, 1, 0};
    const int n = 6;
    thrust::device_vector<int> v(numbers, numbers + n), stencil(marks, marks + n), map(places, places + n), out(n);
    thrust::replace_if(thrust::device, v.begin(), v.end(), stencil.begin(), odd(), 9);
    expect("replace_if", digits(v, n), 923996);
    thrust::replace_copy(v.begin(), v.end(), out.begin(), 9, 8);
    expect("replace_copy", digits(out, n), 823886);
    thrust::fill(out.begin(), out.end(), 0);
    thrust::scatter_if(v.begin(), v.end(), map.begin(), stencil.begin(), out.begin());
    expect("scatter_if", digits(out, n), 99009);
    thrust::gather_if(map.begin(), map.end(), stencil.begin(), v.begin(), out.begin());
    expect("gather_if", digits(out, n), 699329);
    v.assign(numbers, numbers + n);
    expect("partition", thrust::partition(v.begin(), v.end(), stencil.begin(), odd()) - v.begin(), 3);
    expect("partitioned", digits(v, n), 145236);
}

static void copies_and_sets()
{
    const int left[] = {1, 1, 2, 4, 6}, right[] = {1, 2, 3, 6, 7};
    const int n = 5;
    thrust::device_vector<int> a(left, left + n), b(right, right + n), out(n), rest(n), both(2 * n);
    expect("unique_copy", digits(out, thrust::unique_copy(a.begin(), a.end(), out.begin()) - out.begin()), 1246);
    expect("remove_copy", digits(out, thrust::remove_copy(a.begin(), a.end(), out.begin(), 1) - out.begin()), 246);
    auto ends = thrust::partition_copy(a.begin(), a.end(), out.begin(), rest.begin(), odd());
    expect("partition_copy", digits(out, ends.first - out.begin()), 11);
    expect("the rest", digits(rest, ends.second - rest.begin()), 246);
    expect("reverse_copy", digits(out, thrust::reverse_copy(a.begin(), a.end(), out.begin()) - out.begin()), 64211);
    expect("mismatch", thrust::mismatch(a.begin(), a.end(), b.begin()).first - a.begin(), 1);
    expect("equal_range", thrust::equal_range(a.begin(), a.end(), 1).second - a.begin(), 2);
    auto begin = both.begin();
    expect("set_union", digits(both, thrust::set_union(a.begin(), a.end(), b.begin(), b.end(), begin) - begin),
           1123467);
    expect(
        "set_intersection",
        digits(both, thrust::set_intersection(thrust::device, a.begin(), a.end(), b.begin(), b.end(), begin) - begin),
        126);
    expect("set_difference",
           digits(both, thrust::set_difference(a.begin(), a.end(), b.begin(), b.end(), begin) - begin), 14);
    expect("set_symmetric_difference",
           digits(both, thrust::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), begin) - begin), 1347);
}

int main()
{
    sequential_iterators();
    stencils();
    copies_and_sets();
    looked_up();
    const int n = 100;
    thrust::device_vector<int> v(n);
    thrust::sequence(v.begin(), v.end());
    twice<<<1, 128>>>(thrust::raw_pointer_cast(v.data()), n);
    expect("reduce", thrust::reduce(v.begin(), v.end(), 0, thrust::plus<int>()), 9900);
    expect("element", v[7], 14);
    v[7] = 15;
    expect("count_if", thrust::count_if(v.begin(), v.end(), odd()), 1);
    thrust::host_vector<int> h = v;
    expect("host copy", h[7], 15);

    thrust::host_vector<float> values(n);
    for (int i = 0; i < n; i++)
        values[i] = (float)((i * 37) % n);
    thrust::device_vector<float> a = values, b(n);
    thrust::transform(a.begin(), a.end(), b.begin(), square());
    expect("transform", b[1], 37 * 37);
    expect("transform_reduce", thrust::transform_reduce(a.begin(), a.end(), square(), 0.0f, thrust::plus<float>()),
           328350);
    thrust::device_vector<int> index(n);
    thrust::sequence(thrust::device, index.begin(), index.end());
    thrust::sort_by_key(a.begin(), a.end(), index.begin());
    expect("sorted key", a[5], 5);
    expect("sorted value", (index[5] * 37) % n, 5);
    thrust::sort(thrust::device, a.begin(), a.end(), thrust::greater<float>());
    expect("descending", a[0], 99);
    expect("max_element", thrust::max_element(b.begin(), b.end()) - b.begin(), 27);

    thrust::device_vector<int> ones(n, 1), sums(n);
    thrust::exclusive_scan(ones.begin(), ones.end(), sums.begin());
    expect("exclusive_scan", sums[n - 1], n - 1);
    thrust::inclusive_scan(ones.begin(), ones.end(), ones.begin());
    expect("inclusive_scan in place", ones[n - 1], n);
    thrust::device_vector<int> picked(n);
    int kept =
        thrust::copy_if(thrust::make_counting_iterator(0), thrust::make_counting_iterator(n), picked.begin(), odd()) -
        picked.begin();
    expect("copy_if", kept, n / 2);
    expect("copy_if element", picked[3], 7);

    thrust::device_vector<int> x(4, 3), y(4, 4), z(4);
    thrust::for_each(thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin(), z.begin())),
                     thrust::make_zip_iterator(thrust::make_tuple(x.end(), y.end(), z.end())), store_sum());
    expect("zip", z[2], 7);
    expect("inner_product", thrust::inner_product(x.begin(), x.end(), y.begin(), 0), 48);

    int *raw;
    cudaMalloc(&raw, 4 * sizeof(int));
    thrust::device_ptr<int> pointer(raw);
    thrust::fill(pointer, pointer + 4, 9);
    expect("device_ptr", thrust::reduce(pointer, pointer + 4), 36);
    cudaFree(raw);
    return failures != 0;
}
