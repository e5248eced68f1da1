// cost (m x n) = orders (m x k) times prices (k x n): one thread per entry of cost. All three lie in memory row by row.
//
// The launch has enough blocks of 8 x 8 threads to cover cost; some threads at its edges have no entry.

__global__ void price_orders(const float *orders, const float *prices, float *cost, int m, int n, int k)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x; // a shop, below n
    int row = blockIdx.y * blockDim.y + threadIdx.y;    // an order, below m

    // TODO: if there is such an entry, add up orders(row, article) * prices(article, column) over all k articles
}
