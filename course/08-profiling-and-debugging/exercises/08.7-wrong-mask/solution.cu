// Adds up the energies of the particles of each warp. One thread per particle; blocks are multiples of 32 threads.
//
// Lanes without a particle take part with the value 0, which does not change a sum. So all 32 lanes make the call, as
// the mask says. Only loads and stores of memory need a guard.

#define ALL_LANES 0xffffffffu

__global__ void sum_energy(const float *energy, float *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? energy[i] : 0;

    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(ALL_LANES, sum, distance);
    if (i % 32 == 0 && i < n)
        sums[i / 32] = sum;
}
