int main()
{
    int *data;
    cudaMalloc(&data, (size_t)1 << 50); // fails: no GPU has that much memory
    cudaFree(data);
}
