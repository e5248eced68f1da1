// Adds 20 % tax to n prices, in cents. The launch has fewer threads than there may be prices.

__global__ void add_tax(const int *net, int *gross, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) // TODO: one price is not enough; the thread's next price is as many places further as there are threads
        gross[i] = net[i] + net[i] / 5;
}
