// Little's law: how much must be under way so that memory is never idle.

// bandwidth: bytes per microsecond; latency: nanoseconds (a microsecond has 1,000)
long long bytes_in_flight(long long bandwidth, long long latency)
{
    return bandwidth; // TODO: what arrives during one latency
}

// bytes_per_thread: what one thread has under way at a time, at least 1
long long threads_needed(long long bandwidth, long long latency, long long bytes_per_thread)
{
    return 1; // TODO
}
