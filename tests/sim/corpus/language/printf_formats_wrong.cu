// Formats of printf in a kernel that do not fit their arguments.
#include "../corpus.h"

__global__ void print(size_t size, double value, const float *values)
{
    int number = 5;
    printf("%d\n", value);              // expect: bad-call
    printf("%f\n", number);             // expect: bad-call
    printf("%s\n", number);             // expect: bad-call
    printf("%d %d\n", number);          // expect: bad-call
    printf("%*d\n", number);            // expect: bad-call
    printf("%d of %d\n", number, size); // expect: bad-call(warning)
    printf("%ld\n", number);            // expect: bad-call(warning)
    printf("%x\n", values);             // expect: bad-call(warning)
    printf("%f\n", values[0]);
}

int main()
{
    const float host_values[] = {1};
    float *values = device_copy(host_values);
    print<<<1, 1>>>(7, 1.5, values);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(values));
    return 0;
}
