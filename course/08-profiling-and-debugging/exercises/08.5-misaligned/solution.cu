// Multiplies samples first … first + count - 1 by `gain`. The array itself begins at a multiple of 16 bytes.
//
// Sample i lies at byte 4 i, so a float4 may begin only at samples whose number is a multiple of 4. Up to three samples
// before the first such place are done one by one, and so are up to three after the last whole float4.

__global__ void amplify(float *samples, int first, int count, float gain)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = blockDim.x * gridDim.x;
    int head = min((4 - first % 4) % 4, count);
    int body = (count - head) / 4;
    float4 *fours = (float4 *)(samples + first + head);

    if (thread < head)
        samples[first + thread] *= gain;
    for (int i = thread; i < body; i += threads) {
        float4 four = fours[i];
        fours[i] = make_float4(four.x * gain, four.y * gain, four.z * gain, four.w * gain);
    }
    for (int i = head + 4 * body + thread; i < count; i += threads) // what is left at the end
        samples[first + i] *= gain;
}
