// CUDA's cuda_awbarrier.h: nvcuda::experimental::awbarrier, the older form of cuda::barrier.
#pragma once

#include <cuda_awbarrier_primitives.h>

namespace nvcuda
{
namespace experimental
{
class awbarrier
{
  public:
    class arrival_token
    {
      public:
        arrival_token() = default;
        SIM_INLINE explicit arrival_token(unsigned phase) : phase_(phase)
        {
        }
        SIM_INLINE uint32_t pending_count() const
        {
            return 0;
        }
        SIM_INLINE unsigned phase() const
        {
            return phase_;
        }

      private:
        unsigned phase_;
    };

    awbarrier() = default;
    awbarrier(const awbarrier &) = delete;
    awbarrier &operator=(const awbarrier &) = delete;

    SIM_INLINE arrival_token arrive()
    {
        return arrival_token(word_.arrive());
    }
    SIM_INLINE arrival_token arrive_and_drop()
    {
        return arrival_token(word_.arrive_and_drop());
    }
    SIM_INLINE bool timed_wait(arrival_token token, uint32_t)
    {
        return word_.ended(token.phase());
    }
    SIM_INLINE bool timed_wait_parity(bool parity, uint32_t)
    {
        return word_.ended_parity(parity);
    }
    SIM_INLINE void wait(arrival_token token)
    {
        word_.wait(token.phase());
    }
    SIM_INLINE void arrive_and_wait()
    {
        word_.wait(word_.arrive());
    }
    SIM_INLINE bool try_wait(arrival_token token, uint32_t)
    {
        return word_.ended(token.phase());
    }
    SIM_INLINE static uint32_t max()
    {
        return __mbarrier_maximum_count();
    }
    friend SIM_INLINE void init(awbarrier *barrier, uint32_t expected)
    {
        barrier->word_.start(expected);
    }

  private:
    sim::barrier_word word_;
};
} // namespace experimental
} // namespace nvcuda
