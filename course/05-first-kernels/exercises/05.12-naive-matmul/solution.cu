// cost (m x n) = orders (m x k) times prices (k x n): one thread per entry of cost. All three lie in memory row by row.
//
// Each matrix has its own row length: k for orders, n for prices and cost. The sum is kept in a local variable, which
// lives in a register, so that memory is written once per entry and not once per article.

__global__ void price_orders(const float *orders, const float *prices, float *cost, int m, int n, int k)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x; // a shop, below n
    int row = blockIdx.y * blockDim.y + threadIdx.y;    // an order, below m

    if (row < m && column < n) {
        float sum = 0;
        for (int article = 0; article < k; article++)
            sum += orders[row * k + article] * prices[article * n + column];
        cost[row * n + column] = sum;
    }
}
