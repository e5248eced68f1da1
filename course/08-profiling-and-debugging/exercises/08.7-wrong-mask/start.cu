// Adds up the energies of the particles of each warp. One thread per particle; blocks are multiples of 32 threads.

#define ALL_LANES 0xffffffffu

__global__ void sum_energy(const float *energy, float *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        float sum = energy[i];
        for (int distance = 16; distance > 0; distance /= 2)
            sum += __shfl_down_sync(ALL_LANES, sum, distance);
        if (i % 32 == 0)
            sums[i / 32] = sum;
    }
}
