// Thrust's execution policies: where and in which stream an algorithm runs. Every algorithm takes a policy as its first
// argument too. It runs at once, after what the stream still has to do, as Thrust waits for its result; with par_nosync
// an algorithm whose result nobody has to wait for is work of the stream.
#pragma once

#include <cstdlib>

#include <thrust/sim/selected.h>

namespace thrust
{
namespace sim_detail
{
struct policy {
    cudaStream_t stream = 0;
    int system = SIM_SYSTEM_DEVICE;
    bool waits = true;
    policy on(cudaStream_t other) const
    {
        policy moved = *this;
        moved.stream = other;
        return moved;
    }
    template <class Allocator> policy operator()(Allocator &&) const
    {
        return *this;
    }
    bool is_later() const
    {
        return !waits && !sim_in_kernel();
    }
};

// Runs an algorithm in the policy's stream.
template <class Work> inline decltype(auto) run_in(const policy &where, Work work)
{
    if (sim_in_kernel())
        return work();
    in_system here(where.system);
    if (where.system == SIM_SYSTEM_HOST)
        return work();
    check(cudaStreamSynchronize(where.stream));
    in_stream there(where.stream);
    return work();
}

// The work of a stream, which is called as a kernel of one thread.
template <class Work> struct queued {
    static void run(void *memory)
    {
        void *entered = sim_library_enter();
        (*static_cast<Work *>(memory))();
        sim_library_leave(entered);
    }
    static void release(void *memory)
    {
        static_cast<Work *>(memory)->~Work();
        ::free(memory);
    }
};
template <class Work> inline cudaError_t run_later(const char *call, cudaStream_t stream, const Work &work)
{
    constexpr size_t alignment = alignof(Work) < sizeof(void *) ? sizeof(void *) : alignof(Work);
    void *memory = nullptr;
    if (posix_memalign(&memory, alignment, sizeof(Work)) != 0)
        return cudaErrorMemoryAllocation;
    new (memory) Work(work);
    const sim_kernel kernel = {call,         nullptr, queued<Work>::run, memory, sizeof(Work), queued<Work>::release,
                               SIM_OWN_NONE, 1};
    const sim_config config = {{1, 1, 1}, {1, 1, 1}, 0, stream, 0};
    return (cudaError_t)sim_launch(&config, &kernel, nullptr);
}

// An algorithm whose result, `end`, is known before it has run.
template <class End, class Work> inline End run_to(const policy &where, const char *call, End end, const Work &work)
{
    if (where.is_later())
        check(run_later(call, where.stream, work));
    else
        run_in(where, work);
    return end;
}
} // namespace sim_detail

static const sim_detail::policy device, host{0, SIM_SYSTEM_HOST, true}, seq{0, SIM_SYSTEM_HOST, true};
namespace cuda
{
static const sim_detail::policy par, par_nosync{0, SIM_SYSTEM_DEVICE, false};
}
namespace omp
{
static const sim_detail::policy par{0, SIM_SYSTEM_HOST, true};
}

#define SIM_THRUST_POLICY(name)                                                                                        \
    template <class... Arguments> inline decltype(auto) name(const sim_detail::policy &where, Arguments... arguments)  \
    {                                                                                                                  \
        return sim_detail::run_in(where, [&]() -> decltype(auto) { return thrust::name(arguments...); });              \
    }
// Without a result.
#define SIM_THRUST_POLICY_VOID(name)                                                                                   \
    template <class... Arguments> inline void name(const sim_detail::policy &where, Arguments... arguments)            \
    {                                                                                                                  \
        sim_detail::run_to(where, "thrust::" #name, 0, [=]() mutable { thrust::name(arguments...); });                 \
    }
SIM_THRUST_POLICY(transform_if)
SIM_THRUST_POLICY(copy)
SIM_THRUST_POLICY(copy_n)
SIM_THRUST_POLICY(copy_if)
SIM_THRUST_POLICY_VOID(scatter)
SIM_THRUST_POLICY(adjacent_difference)
SIM_THRUST_POLICY_VOID(fill)
SIM_THRUST_POLICY(fill_n)
SIM_THRUST_POLICY_VOID(sequence)
SIM_THRUST_POLICY_VOID(tabulate)
SIM_THRUST_POLICY_VOID(generate)
SIM_THRUST_POLICY(for_each_n)
SIM_THRUST_POLICY_VOID(replace_if)
SIM_THRUST_POLICY_VOID(replace)
SIM_THRUST_POLICY_VOID(reverse)
SIM_THRUST_POLICY_VOID(shuffle)
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
SIM_THRUST_POLICY(inclusive_scan_by_key)
SIM_THRUST_POLICY(exclusive_scan_by_key)
SIM_THRUST_POLICY(reduce_by_key)
SIM_THRUST_POLICY(unique)
SIM_THRUST_POLICY(unique_by_key)
SIM_THRUST_POLICY(unique_by_key_copy)
SIM_THRUST_POLICY_VOID(stable_sort)
SIM_THRUST_POLICY_VOID(sort)
SIM_THRUST_POLICY_VOID(stable_sort_by_key)
SIM_THRUST_POLICY_VOID(sort_by_key)
SIM_THRUST_POLICY(is_sorted)
SIM_THRUST_POLICY(lower_bound)
SIM_THRUST_POLICY(upper_bound)
SIM_THRUST_POLICY(binary_search)
SIM_THRUST_POLICY(merge)
SIM_THRUST_POLICY(replace_copy_if)
SIM_THRUST_POLICY(replace_copy)
SIM_THRUST_POLICY_VOID(scatter_if)
SIM_THRUST_POLICY(gather_if)
SIM_THRUST_POLICY(remove_copy)
SIM_THRUST_POLICY(partition_copy)
SIM_THRUST_POLICY(stable_partition_copy)
SIM_THRUST_POLICY(reverse_copy)
SIM_THRUST_POLICY(unique_copy)
SIM_THRUST_POLICY(uninitialized_copy)
SIM_THRUST_POLICY_VOID(uninitialized_fill)
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
#undef SIM_THRUST_POLICY_VOID

// With a result that is known beforehand.
template <class In, class Out, class F>
inline Out transform(const sim_detail::policy &where, In first, In last, Out out, F f)
{
    return sim_detail::run_to(where, "thrust::transform", sim_detail::behind(out, (size_t)(last - first)),
                              [=]() mutable { thrust::transform(first, last, out, f); });
}
template <class A, class B, class Out, class F>
inline Out transform(const sim_detail::policy &where, A first, A last, B second, Out out, F f)
{
    return sim_detail::run_to(where, "thrust::transform", sim_detail::behind(out, (size_t)(last - first)),
                              [=]() mutable { thrust::transform(first, last, second, out, f); });
}
template <class In, class F> inline In for_each(const sim_detail::policy &where, In first, In last, F f)
{
    return sim_detail::run_to(where, "thrust::for_each", last, [=]() mutable { thrust::for_each(first, last, f); });
}
template <class Map, class In, class Out>
inline Out gather(const sim_detail::policy &where, Map first, Map last, In from, Out out)
{
    return sim_detail::run_to(where, "thrust::gather", sim_detail::behind(out, (size_t)(last - first)),
                              [=]() mutable { thrust::gather(first, last, from, out); });
}
#define SIM_THRUST_POLICY_SCAN(name)                                                                                   \
    template <class In, class Out, class... Arguments>                                                                 \
    inline Out name(const sim_detail::policy &where, In first, In last, Out out, Arguments... arguments)               \
    {                                                                                                                  \
        return sim_detail::run_to(where, "thrust::" #name, sim_detail::behind(out, (size_t)(last - first)),            \
                                  [=]() mutable { thrust::name(first, last, out, arguments...); });                    \
    }
SIM_THRUST_POLICY_SCAN(inclusive_scan)
SIM_THRUST_POLICY_SCAN(exclusive_scan)
#undef SIM_THRUST_POLICY_SCAN
} // namespace thrust
