// out-of-bounds: Is it computed as this array needs it?

__global__ void price_orders(const float *orders, const float *prices, float *cost, int m, int n, int k)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x; // a shop, below n
    int row = blockIdx.y * blockDim.y + threadIdx.y;    // an order, below m

    if (row < m && column < n) {
        float sum = 0;
        for (int article = 0; article < k; article++)
            sum += orders[row * k + article] * prices[article * k + column];
        cost[row * n + column] = sum;
    }
}
