#include <cooperative_groups.h>

__global__ void __cluster_dims__(2) swap(int *data)
{
    __shared__ int mine;
    const auto cluster = cooperative_groups::this_cluster();
    mine = data[blockIdx.x];
    cluster.sync();
    data[blockIdx.x] = *cluster.map_shared_rank(&mine, 1 - cluster.block_rank()); // only a real GPU can do this
    cluster.sync();
}

int main()
{
    int *data;
    cudaMalloc(&data, 2 * sizeof(int));
    cudaMemset(data, 0, 2 * sizeof(int));
    swap<<<2, 1>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}
