// A kernel and its launch in a header, for launch_in_header.cu.
#pragma once

__global__ void add_header(int *data, int value)
{
    data[threadIdx.x] += value;
}

static inline void run_from_header(int *data, int value)
{
    add_header<<<1, 32>>>(data, value);
}
