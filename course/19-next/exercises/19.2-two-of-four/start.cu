// 2:4 sparsity: keeps the two largest of each four weights. One thread per group of four.
// weights: (groups, 4), kept: (groups, 2), places: (groups)

__global__ void keep_two(const float *weights, float *kept, unsigned char *places, int groups)
{
    int group = blockIdx.x * blockDim.x + threadIdx.x;

    if (group >= groups)
        return;
    const float *four = weights + 4 * group;
    int first = 0, second = 1; // TODO: where the two largest absolute values are, first < second

    kept[2 * group] = four[first];
    kept[2 * group + 1] = four[second];
    places[group] = (unsigned char)(first | second << 2);
}
