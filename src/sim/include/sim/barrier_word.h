// The 64 bits of a barrier in memory (CUDA's mbarrier): how many arrivals a phase needs, how many are missing, how many
// bytes of copies are missing, and which phase it is. cuda::barrier, awbarrier and pipelines are all made of it.
#pragma once

#include "sim/library.h"

namespace sim
{
class barrier_word
{
  public:
    // From the lowest bit: arrivals a phase needs, arrivals missing, bytes missing, phase.
    enum { COUNT_BITS = 20, BYTES_BITS = 21, PHASE_BITS = 3 };
    enum : uint64_t { COUNT_MASK = (1u << COUNT_BITS) - 1, BYTES_MASK = (1u << BYTES_BITS) - 1, PHASE_MASK = 7 };
    enum { MISSING_AT = COUNT_BITS, BYTES_AT = 2 * COUNT_BITS, PHASE_AT = 2 * COUNT_BITS + BYTES_BITS };

    SIM_INLINE void start(unsigned expected)
    {
        word_ = make(expected, expected, 0, 0);
    }

    static SIM_UNWATCHED inline unsigned phase_of(uint64_t word)
    {
        return (unsigned)(word >> PHASE_AT & PHASE_MASK);
    }
    SIM_UNWATCHED SIM_NOINLINE unsigned phase() const
    {
        return phase_of(__atomic_load_n(&word_, __ATOMIC_SEQ_CST));
    }

    // Returns the phase that it arrived in. Others that acquire this phase's end see what came before.
    template <int Scope = SIM_SCOPE_BLOCK> SIM_INLINE unsigned arrive(unsigned count = 1)
    {
        return change<Scope>(count, 0, 0, 0);
    }
    template <int Scope = SIM_SCOPE_BLOCK> SIM_INLINE unsigned arrive_and_drop()
    {
        return change<Scope>(1, 1, 0, 0);
    }
    template <int Scope = SIM_SCOPE_BLOCK> SIM_INLINE unsigned arrive_expecting(unsigned count, unsigned bytes)
    {
        return change<Scope>(count, 0, (int)bytes, 0);
    }
    SIM_INLINE void expect(unsigned bytes)
    {
        change<SIM_SCOPE_BLOCK>(0, 0, (int)bytes, 0);
    }
    // cp.async.mbarrier.arrive: the phase waits for the copies that this thread has asked for so far.
    SIM_INLINE void adopt_copies()
    {
        sim_copy_commit();
        for (sim_copy one; sim_copy_next(0, &one);)
            sim_copy_add_to(this, phase(), &one);
    }

    // One look: whether the phase has ended, and its copies are made.
    template <int Scope = SIM_SCOPE_BLOCK> SIM_INLINE bool ended(unsigned waited_for)
    {
        const bool over = passed<Scope>(waited_for);
        if (!over)
            sim_spin();
        return over;
    }
    template <int Scope = SIM_SCOPE_BLOCK> SIM_INLINE void wait(unsigned waited_for)
    {
        while (!passed<Scope>(waited_for))
            sim_phase_waits();
    }
    // Phases told apart by their last bit alone.
    template <int Scope = SIM_SCOPE_BLOCK> SIM_INLINE bool ended_parity(bool parity)
    {
        return ended<Scope>(phase_of_parity(parity));
    }
    template <int Scope = SIM_SCOPE_BLOCK> SIM_INLINE void wait_parity(bool parity)
    {
        while (!passed<Scope>(phase_of_parity(parity)))
            sim_phase_waits();
    }

    // A copy that the current phase waits for.
    SIM_INLINE void copy(void *to, const void *from, size_t bytes)
    {
        sim_copy asked = copy_announced(to, from, bytes);
        sim_copy_add_to(this, phase(), &asked);
    }
    // The same by bytes (cp.async.bulk): the phase has been told how many to expect.
    SIM_INLINE void copy_counted(void *to, const void *from, size_t bytes)
    {
        sim_copy asked = copy_announced(to, from, bytes);
        sim_copy_add_to(&bytes_key(), phase(), &asked);
    }

    // Whether so many arrivals end the phase: who makes them may act for all that have arrived, and knows what they
    // did.
    template <int Scope = SIM_SCOPE_BLOCK> SIM_INLINE bool is_last(unsigned count) const
    {
        if (missing() != count)
            return false;
        touch<Scope>(phase(), SIM_ATOMIC_LOAD | SIM_ATOMIC_ACQUIRE);
        return true;
    }

  private:
    SIM_UNWATCHED SIM_NOINLINE unsigned missing() const
    {
        return (unsigned)(__atomic_load_n(&word_, __ATOMIC_SEQ_CST) >> MISSING_AT & COUNT_MASK);
    }

    static SIM_UNWATCHED inline uint64_t make(uint64_t expected, uint64_t missing, uint64_t bytes, uint64_t phase)
    {
        return (expected & COUNT_MASK) | (missing & COUNT_MASK) << MISSING_AT | (bytes & BYTES_MASK) << BYTES_AT |
               (phase & PHASE_MASK) << PHASE_AT;
    }

    static SIM_UNWATCHED inline uint64_t changed(uint64_t word, unsigned count, unsigned dropped, int more, int fewer)
    {
        uint64_t expected = (word & COUNT_MASK) - dropped, missing = (word >> MISSING_AT & COUNT_MASK) - count;
        uint64_t bytes = (word >> BYTES_AT) + (uint64_t)(int64_t)(more - fewer), phase = word >> PHASE_AT;
        if ((missing & COUNT_MASK) == 0 && (bytes & BYTES_MASK) == 0 && (count > 0 || fewer > 0)) {
            missing = expected;
            phase++;
        }
        return make(expected, missing, bytes, phase);
    }

    SIM_INLINE unsigned phase_of_parity(bool parity) const
    {
        const unsigned now = phase();
        return (now & 1u) == (unsigned)parity ? now : (now - 1) & (unsigned)PHASE_MASK;
    }

    SIM_UNWATCHED SIM_NOINLINE unsigned apply(unsigned count, unsigned dropped, int more, int fewer)
    {
        uint64_t old = __atomic_load_n(&word_, __ATOMIC_SEQ_CST), now;
        do
            now = changed(old, count, dropped, more, fewer);
        while (!__atomic_compare_exchange_n(&word_, &old, now, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
        if (phase_of(now) != phase_of(old))
            sim_phase_ended();
        return phase_of(old);
    }

    // Who waits for a phase knows what came before the arrivals of that phase, not of the next, though these may have
    // changed the word already: even and odd phases are announced as one half of the word each.
    template <int Scope> SIM_INLINE void touch(unsigned of_phase, int what) const
    {
        (void)of_phase;
        (void)what;
        SIM_TOUCH_ATOMIC(reinterpret_cast<const char *>(&word_) + (of_phase & 1u) * sizeof(uint32_t), sizeof(uint32_t),
                         Scope, what);
    }

    // Nobody learns from an arrival what others did before theirs: that takes a wait.
    template <int Scope> SIM_INLINE void release(unsigned of_phase) const
    {
        SIM_TOUCH_DISCARDS();
        touch<Scope>(of_phase, SIM_ATOMIC_UPDATE | SIM_ATOMIC_RELEASE);
    }

    template <int Scope> SIM_INLINE unsigned change(unsigned count, unsigned dropped, int more, int fewer)
    {
        const unsigned expected_phase = phase();
        release<Scope>(expected_phase);
        const unsigned arrived_in = apply(count, dropped, more, fewer);
        if (arrived_in != expected_phase) // others ran meanwhile
            release<Scope>(arrived_in);
        return arrived_in;
    }

    // Copies counted by bytes wait under an address of their own: the upper half of the word.
    const char &bytes_key() const
    {
        return reinterpret_cast<const char *>(&word_)[4];
    }

    // Bulk copies complete by themselves; here the first thread that waits makes them.
    SIM_INLINE void finish_bytes(unsigned waited_for)
    {
        for (sim_copy one; sim_copy_next_for(&bytes_key(), waited_for, &one, 0) == 1;) {
            SIM_COPY_COMES(&one);
            sim_copy_make(&one);
            sim_copy_made_for(&bytes_key(), waited_for, 1);
            change<SIM_SCOPE_BLOCK>(0, 0, 0, (int)one.bytes);
        }
    }

    // The first thread that finds the phase over makes its copies. Others pass only when every copy has been made and
    // the word released after it.
    template <int Scope> SIM_INLINE bool passed(unsigned waited_for)
    {
        if (phase() == waited_for)
            finish_bytes(waited_for);
        if (phase() == waited_for)
            return false;
        sim_copy one;
        int next = sim_copy_next_for(this, waited_for, &one, 0);
        if (next < 0) // other threads make them
            return false;
        touch<Scope>(waited_for, SIM_ATOMIC_LOAD | SIM_ATOMIC_ACQUIRE);
        unsigned made = 0;
        for (; next > 0; next = sim_copy_next_for(this, waited_for, &one, made)) {
            SIM_COPY_COMES(&one);
            sim_copy_make(&one);
            made++;
        }
        if (made == 0)
            return true;
        // Acquires, too: others may have made and handed over theirs meanwhile.
        touch<Scope>(waited_for, SIM_ATOMIC_UPDATE | SIM_ATOMIC_RELEASE | SIM_ATOMIC_ACQUIRE);
        sim_copy_made_for(this, waited_for, made);
        sim_phase_ended();
        return next == 0;
    }

    uint64_t word_;
};
} // namespace sim
