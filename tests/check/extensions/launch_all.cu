// Launches a kernel of every style of this folder, in one program: each check of its own would compile alone.
#include <cstdio>

template <class T> static T *device(int n, double value)
{
    T *at, *host = new T[n];
    cudaMalloc(&at, n * sizeof(T));
    for (int i = 0; i < n; i++)
        host[i] = T(float(value));
    cudaMemcpy(at, host, n * sizeof(T), cudaMemcpyHostToDevice);
    delete[] host;
    return at;
}

template <class T> static void show(const char *name, T *at, int i)
{
    T value;
    cudaMemcpy(&value, at + i, sizeof value, cudaMemcpyDeviceToHost);
    printf("%s %.4g\n", name, double(value));
}

template <class T> static at::PackedTensorAccessor64<T, 4> accessor(T *at, int h, int w)
{
    const int64_t sizes[] = {1, 1, h, w}, strides[] = {h * w, h * w, w, 1};
    return at::PackedTensorAccessor64<T, 4>(at, sizes, strides);
}

int main()
{
    enum { N = 256 };
    float *x = device<float>(N, 2), *y = device<float>(N, 0);
    double *dx = device<double>(N, 2), *dy = device<double>(N, 0);
    at::Half *hx = device<at::Half>(N, 2), *hy = device<at::Half>(N, 0);
    at::BFloat16 *bx = device<at::BFloat16>(N, 2), *by = device<at::BFloat16>(N, 0);
    int64_t *lx = device<int64_t>(N, 1), *ly = device<int64_t>(N, 0);

    old_gate<double><<<1, N>>>(dy, dx, N);
    show("old_gate", dy, 3);
    utils::cast_kernel<float, at::Half><<<1, 64>>>(x, hy, N);
    show("cast", hy, N - 1);
    macro_square_kernel<float><<<1, N>>>(x, y, N);
    show("square", y, 1);
    macro_scale<<<1, N>>>(y, 0.5f, N);
    show("scale", y, 1);
    transpose_by_shape<<<dim3(1, 1), dim3(16, 16)>>>(x, y, 16, 16);
    show("transpose", y, 7);
    ops::detail::vector_map<at::BFloat16, ops::detail::Silu<at::BFloat16>><<<1, N / 4>>>(bx, by, N);
    show("silu", by, 5);
    ops::detail::scalar_map<at::Half, ops::detail::Silu<at::Half>><<<1, 64>>>(hx, hy, N);
    show("silu half", hy, 5);
    first::reduce<<<1, 32>>>(x, y, N);
    show("reduce", y, 0);
    second::reduce<<<1, 128>>>(dx, dy, N, 2);
    show("reduce double", dy, 0);
    engine::rms_norm_kernel<__nv_bfloat16>
        <<<2, 32>>>((__nv_bfloat16 *)by, (__nv_bfloat16 *)bx, (__nv_bfloat16 *)bx, 1e-6f, 2, N / 2);
    show("rms_norm", by, 0);
    Params params = {x, y, 16, 16, 3.f};
    run_scaled_copy(params, 0);
    show("scaled copy", y, 255);
    apex_style::block_sum<double><<<1, 64, 64 * sizeof(double)>>>(dx, dy, N);
    show("block_sum", dy, 0);
    at::native::bucket_kernel<float><<<1, N>>>(x, lx, ly, N, 3);
    show("bucket", ly, 9);
    at::native::shuffled_sum<at::Half><<<1, 32>>>(hx, hy);
    show("shuffled_sum", hy, 0);
    cudaMemset(y, 0, 4);
    launch_cooperative(x, y, 8);
    show("cooperative", y, 0);
    upsample_kernel<float><<<1, N>>>(accessor(x, 8, 8), accessor(y, 16, 16), 2);
    show("upsample", y, 200);
    dropout_kernel<<<1, N>>>(x, y, 0.f, N, at::PhiloxCudaState(1, 0));
    show("dropout", y, 4);
    inline_axpy<<<1, N>>>(2.f, x, y, N);
    show("axpy", y, 4);
    void *const all[] = {x, y, dx, dy, hx, hy, bx, by, lx, ly};
    for (void *one : all)
        cudaFree(one);
}
