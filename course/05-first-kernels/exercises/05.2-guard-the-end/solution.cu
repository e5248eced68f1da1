// Converts n temperatures from Fahrenheit to Celsius: one thread per temperature.
//
// Threads number n and above exist only because blocks are whole. The guard lets them do nothing: no read, no write.
// It belongs before the read: `float f = fahrenheit[i];` above the `if` would still read past the end.

__global__ void to_celsius(const float *fahrenheit, float *celsius, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        celsius[i] = (fahrenheit[i] - 32) * 5 / 9;
}
