// limit: one thread does the work of all

__global__ void add_tax(const int *net, int *gross, int n)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        for (int i = 0; i < n; i++)
            gross[i] = net[i] + net[i] / 5;
}
