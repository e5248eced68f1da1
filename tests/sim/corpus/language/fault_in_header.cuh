// A kernel with a race, for fault_in_header.cu.
#pragma once

__global__ void racy_header(int *data)
{
    *data = threadIdx.x; // expect: race
}
