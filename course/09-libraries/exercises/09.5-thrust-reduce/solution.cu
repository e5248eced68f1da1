// The mean of n floats in device memory.
//
// 0 is an int. The sum then is an int as well: every partial sum is rounded towards zero, and at the end an int is
// divided by an int. 0.0f makes both of them float.

#include <thrust/device_ptr.h>
#include <thrust/reduce.h>

float mean(const float *values, int n)
{
    thrust::device_ptr<const float> begin(values); // tells Thrust that the memory is on the device

    return thrust::reduce(begin, begin + n, 0.0f) / n;
}
