// Marks the points of a volume that are denser than the threshold of their slice: one thread per point.
//
// One step in z jumps over a whole slice, and a slice has height * width points, not height. With the shorter step, the
// slices overlapped: several threads shared one point, and the end of the volume had no thread.

__global__ void find_bone(const int *density, int *bone, int threshold, int width, int height, int depth)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;

    if (x < width && y < height && z < depth) {
        int i = (z * height + y) * width + x;
        bone[i] = density[i] > threshold - z;
    }
}
