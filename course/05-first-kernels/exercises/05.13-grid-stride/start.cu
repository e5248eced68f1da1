// Adds 20 % tax to n prices, in cents. The launch has fewer threads than there may be prices.

__global__ void add_tax(const int *net, int *gross, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    // TODO: one price is not enough. The next price of a thread is as many places further on as there are threads in
    // the whole launch.
    if (i < n)
        gross[i] = net[i] + net[i] / 5;
}
