// Multiplies samples first … first + count - 1 by `gain`. The array itself begins at a multiple of 16 bytes.

__global__ void amplify(float *samples, int first, int count, float gain)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = blockDim.x * gridDim.x;
    float4 *fours = (float4 *)(samples + first);

    for (int i = thread; i < count / 4; i += threads) {
        float4 four = fours[i];
        fours[i] = make_float4(four.x * gain, four.y * gain, four.z * gain, four.w * gain);
    }
    for (int i = count / 4 * 4 + thread; i < count; i += threads) // what is left at the end
        samples[first + i] *= gain;
}
