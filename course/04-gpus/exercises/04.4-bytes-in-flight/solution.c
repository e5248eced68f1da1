// Little's law: how much must be under way so that memory is never idle.
//
// During one latency, bandwidth * latency bytes arrive, and all of them must have been asked for before. The product
// comes before the division by 1000: divided first, a latency below a microsecond would become 0.

static long long divide_up(long long a, long long b)
{
    return (a + b - 1) / b;
}

// bandwidth: bytes per microsecond; latency: nanoseconds (a microsecond has 1,000)
long long bytes_in_flight(long long bandwidth, long long latency)
{
    return divide_up(bandwidth * latency, 1000);
}

// bytes_per_thread: what one thread has under way at a time, at least 1
long long threads_needed(long long bandwidth, long long latency, long long bytes_per_thread)
{
    return divide_up(bytes_in_flight(bandwidth, latency), bytes_per_thread);
}
