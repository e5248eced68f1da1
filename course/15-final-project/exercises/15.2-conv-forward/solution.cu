// 3 x 3 convolution with zeros around the image: one thread per output element.
// x: (N, C, H, W), weight: (K, C, 3, 3), bias: (K), y: (N, K, H, W)
//
// Filter position (r, s) lies over image row row + r - 1 and column column + s - 1. Positions outside the image
// multiply a zero, so they are skipped. Rows and columns need separate tests: column -1 of one row would otherwise be
// the last column of the row before.

__global__ void conv_forward(const float *x, const float *weight, const float *bias, float *y, int N, int C, int K,
                             int H, int W)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= N * K * H * W)
        return;
    int column = i % W, row = i / W % H, k = i / (W * H) % K, n = i / (W * H * K);
    float sum = bias[k];

    for (int c = 0; c < C; c++)
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                int h = row + r - 1, w = column + s - 1;
                if (h >= 0 && h < H && w >= 0 && w < W)
                    sum += weight[((k * C + c) * 3 + r) * 3 + s] * x[((n * C + c) * H + h) * W + w];
            }

    y[i] = sum;
}
