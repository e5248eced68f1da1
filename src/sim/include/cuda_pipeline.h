// CUDA's cuda_pipeline.h: nvcuda::experimental::pipeline, the older form of cuda::pipeline, over cp.async.
#pragma once

#include <cuda_awbarrier.h>
#include <cuda_pipeline_primitives.h>

namespace nvcuda
{
namespace experimental
{
class pipeline
{
  public:
    pipeline() = default;
    pipeline(const pipeline &) = delete;
    pipeline &operator=(const pipeline &) = delete;

    SIM_INLINE size_t commit()
    {
        sim_copy_commit();
        return batches_++;
    }
    SIM_INLINE void commit_and_wait()
    {
        commit();
        sim::copy_wait(0);
    }
    SIM_INLINE void wait(size_t batch)
    {
        sim::copy_wait((unsigned)(batches_ - 1 - batch));
    }
    template <unsigned N_> SIM_INLINE void wait_prior()
    {
        sim::copy_wait(N_);
    }

  private:
    size_t batches_ = 0;
};

template <class T_> SIM_INLINE void memcpy_async(T_ &to, const T_ &from, pipeline &)
{
    size_t piece = sim::copy_piece(&to, &from, sizeof(T_));
    for (size_t at = 0; at < sizeof(T_); at += piece) {
        sim_copy copy = sim::copy_announced((char *)&to + at, (const char *)&from + at, piece);
        sim_copy_add(&copy);
    }
}
} // namespace experimental
} // namespace nvcuda
