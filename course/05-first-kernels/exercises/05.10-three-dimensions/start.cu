// Marks the points of a volume that are denser than the threshold of their slice: one thread per point.
//
// The volume is `depth` slices; a slice is `height` rows; a row is `width` points. Slices lie in memory one after the
// other, and so do the rows of a slice.

__global__ void find_bone(const int *density, int *bone, int threshold, int width, int height, int depth)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;

    if (x < width && y < height && z < depth) {
        int i = z * height + y * width + x;
        bone[i] = density[i] > threshold - z;
    }
}
