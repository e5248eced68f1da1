// Doubles every element of an array: one thread per element.

__global__ void double_all(const float *in, float *out)
{
    int i = 0; // TODO: the number of this thread within the whole launch, not only within its block

    out[i] = 2 * in[i];
}
