// race: Two threads computed the same index

__global__ void add_tax(const int *net, int *gross, int n)
{
    int threads = blockDim.x;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        gross[i] = net[i] + net[i] / 5;
}
