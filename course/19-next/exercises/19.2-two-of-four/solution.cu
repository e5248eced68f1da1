// 2:4 sparsity: keeps the two largest of each four weights. One thread per group of four.
// weights: (groups, 4), kept: (groups, 2), places: (groups)
//
// A weight is kept if fewer than two others beat it. Another weight beats it with a larger absolute value, or with an
// equal one if it stands earlier. No two weights beat each other, so exactly two are kept, also where all four are
// equal, and walking through the places in order finds them in order.

__global__ void keep_two(const float *weights, float *kept, unsigned char *places, int groups)
{
    int group = blockIdx.x * blockDim.x + threadIdx.x;

    if (group >= groups)
        return;
    const float *four = weights + 4 * group;
    int found[2], count = 0;

    for (int i = 0; i < 4; i++) {
        int better = 0;
        for (int k = 0; k < 4; k++)
            if (fabsf(four[k]) > fabsf(four[i]) || (fabsf(four[k]) == fabsf(four[i]) && k < i))
                better++;
        if (better < 2)
            found[count++] = i;
    }

    kept[2 * group] = four[found[0]];
    kept[2 * group + 1] = four[found[1]];
    places[group] = (unsigned char)(found[0] | found[1] << 2);
}
