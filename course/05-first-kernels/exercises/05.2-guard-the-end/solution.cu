// Converts n temperatures from Fahrenheit to Celsius: one thread per temperature.
//
// Threads number n and above exist only because blocks are whole. The guard lets them do nothing: no read, no write.
// It belongs before the read. With `float f = fahrenheit[i];` above the `if`, the source still reads past the end; a
// compiler may move that read into the `if`, where the value is used, but it need not.

__global__ void to_celsius(const float *fahrenheit, float *celsius, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        celsius[i] = (fahrenheit[i] - 32) * 5 / 9;
}
