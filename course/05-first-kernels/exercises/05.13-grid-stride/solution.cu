// Adds 20 % tax to n prices, in cents. The launch has fewer threads than there may be prices.
//
// All threads together take one stretch of blockDim.x * gridDim.x prices, then the next stretch. With that stride no
// two threads ever meet on one price, and neighbouring threads always work on neighbouring prices.

__global__ void add_tax(const int *net, int *gross, int n)
{
    int threads = blockDim.x * gridDim.x;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        gross[i] = net[i] + net[i] / 5;
}
