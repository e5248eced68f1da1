// Thrust's execution policies: where and in which stream an algorithm runs. Here it runs at once, after what the stream
// still has to do; every algorithm takes a policy as its first argument too.
#pragma once

#include <thrust/sim/selected.h>

namespace thrust
{
namespace sim_detail
{
struct policy {
    cudaStream_t stream = 0;
    policy on(cudaStream_t other) const
    {
        policy moved;
        moved.stream = other;
        return moved;
    }
    template <class Allocator> policy operator()(Allocator &&) const
    {
        return *this;
    }
    void wait() const
    {
        if (!sim_in_kernel())
            check(cudaStreamSynchronize(stream));
    }
};

// Runs an algorithm in the policy's stream.
template <class Work> inline decltype(auto) run_in(const policy &where, Work work)
{
    where.wait();
    if (sim_in_kernel())
        return work();
    in_stream here(where.stream);
    return work();
}
} // namespace sim_detail

static const sim_detail::policy device, host, seq;
namespace cuda
{
static const sim_detail::policy par, par_nosync;
}
namespace omp
{
static const sim_detail::policy par;
}

#define SIM_THRUST_POLICY(name)                                                                                        \
    template <class... Arguments> inline decltype(auto) name(const sim_detail::policy &where, Arguments... arguments)  \
    {                                                                                                                  \
        return sim_detail::run_in(where, [&]() -> decltype(auto) { return thrust::name(arguments...); });              \
    }
SIM_THRUST_POLICY(transform)
SIM_THRUST_POLICY(transform_if)
SIM_THRUST_POLICY(copy)
SIM_THRUST_POLICY(copy_n)
SIM_THRUST_POLICY(copy_if)
SIM_THRUST_POLICY(gather)
SIM_THRUST_POLICY(scatter)
SIM_THRUST_POLICY(adjacent_difference)
SIM_THRUST_POLICY(fill)
SIM_THRUST_POLICY(fill_n)
SIM_THRUST_POLICY(sequence)
SIM_THRUST_POLICY(tabulate)
SIM_THRUST_POLICY(generate)
SIM_THRUST_POLICY(for_each)
SIM_THRUST_POLICY(for_each_n)
SIM_THRUST_POLICY(replace_if)
SIM_THRUST_POLICY(replace)
SIM_THRUST_POLICY(reverse)
SIM_THRUST_POLICY(shuffle)
SIM_THRUST_POLICY(swap_ranges)
SIM_THRUST_POLICY(remove_if)
SIM_THRUST_POLICY(remove_copy_if)
SIM_THRUST_POLICY(remove)
SIM_THRUST_POLICY(partition)
SIM_THRUST_POLICY(stable_partition)
SIM_THRUST_POLICY(transform_reduce)
SIM_THRUST_POLICY(reduce)
SIM_THRUST_POLICY(inner_product)
SIM_THRUST_POLICY(find_if)
SIM_THRUST_POLICY(find)
SIM_THRUST_POLICY(count_if)
SIM_THRUST_POLICY(count)
SIM_THRUST_POLICY(any_of)
SIM_THRUST_POLICY(none_of)
SIM_THRUST_POLICY(all_of)
SIM_THRUST_POLICY(equal)
SIM_THRUST_POLICY(min_element)
SIM_THRUST_POLICY(max_element)
SIM_THRUST_POLICY(minmax_element)
SIM_THRUST_POLICY(transform_inclusive_scan)
SIM_THRUST_POLICY(transform_exclusive_scan)
SIM_THRUST_POLICY(inclusive_scan)
SIM_THRUST_POLICY(exclusive_scan)
SIM_THRUST_POLICY(inclusive_scan_by_key)
SIM_THRUST_POLICY(exclusive_scan_by_key)
SIM_THRUST_POLICY(reduce_by_key)
SIM_THRUST_POLICY(unique)
SIM_THRUST_POLICY(unique_by_key)
SIM_THRUST_POLICY(unique_by_key_copy)
SIM_THRUST_POLICY(stable_sort)
SIM_THRUST_POLICY(sort)
SIM_THRUST_POLICY(stable_sort_by_key)
SIM_THRUST_POLICY(sort_by_key)
SIM_THRUST_POLICY(is_sorted)
SIM_THRUST_POLICY(lower_bound)
SIM_THRUST_POLICY(upper_bound)
SIM_THRUST_POLICY(binary_search)
SIM_THRUST_POLICY(merge)
SIM_THRUST_POLICY(replace_copy_if)
SIM_THRUST_POLICY(replace_copy)
SIM_THRUST_POLICY(scatter_if)
SIM_THRUST_POLICY(gather_if)
SIM_THRUST_POLICY(remove_copy)
SIM_THRUST_POLICY(partition_copy)
SIM_THRUST_POLICY(stable_partition_copy)
SIM_THRUST_POLICY(reverse_copy)
SIM_THRUST_POLICY(unique_copy)
SIM_THRUST_POLICY(uninitialized_copy)
SIM_THRUST_POLICY(uninitialized_fill)
SIM_THRUST_POLICY(generate_n)
SIM_THRUST_POLICY(find_if_not)
SIM_THRUST_POLICY(partition_point)
SIM_THRUST_POLICY(is_partitioned)
SIM_THRUST_POLICY(mismatch)
SIM_THRUST_POLICY(equal_range)
SIM_THRUST_POLICY(set_union)
SIM_THRUST_POLICY(set_intersection)
SIM_THRUST_POLICY(set_difference)
SIM_THRUST_POLICY(set_symmetric_difference)
#undef SIM_THRUST_POLICY
} // namespace thrust
