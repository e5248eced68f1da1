__global__ void fill(float *data)
{
    float4 *four = (float4 *)(data + 1); // 4 bytes past a multiple of 16
    four[threadIdx.x] = make_float4(1, 1, 1, 1);
}

int main()
{
    float *data;
    cudaMalloc(&data, 65 * sizeof(float));
    fill<<<1, 16>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}
