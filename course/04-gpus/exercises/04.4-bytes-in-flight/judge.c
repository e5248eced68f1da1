#include "learn_c.h"

#include "04.4-bytes-in-flight.c"

static void judge(long long bandwidth, long long latency, long long bytes_per_thread, long long bytes,
                  long long threads)
{
    learn_case("%lld bytes per microsecond, %lld ns, %lld bytes per thread", bandwidth, latency, bytes_per_thread);
    learn_expect_int("bytes_in_flight", bytes_in_flight(bandwidth, latency), bytes);
    learn_expect_int("threads_needed", threads_needed(bandwidth, latency, bytes_per_thread), threads);
}

int main(void)
{
    judge(1000, 500, 4, 500, 125);
    judge(1000, 2000, 16, 2000, 125);
    judge(50000, 80, 64, 4000, 63);          // a CPU: little latency, little bandwidth
    judge(4800000, 600, 4, 2880000, 720000); // a large GPU: more than it has threads, with 4 bytes each
    judge(4800000, 600, 16, 2880000, 180000);
    judge(999, 1, 4, 1, 1); // rounded up, not down
    judge(1001, 999, 1000, 1000, 1);
    judge(1001, 1000, 1000, 1001, 2);
    return learn_passed();
}
