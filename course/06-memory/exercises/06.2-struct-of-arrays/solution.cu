// Moves particles: position += seconds * velocity.
//
// Each field has an array of its own. The lanes of a warp are consecutive particles, so they read consecutive floats
// whichever field it is.

enum field { X, Y, Z, VELOCITY_X, VELOCITY_Y, VELOCITY_Z, FIELDS };

// Where a particle's field lies in an array of FIELDS * capacity floats.
__host__ __device__ inline int place(int particle, int field, int capacity)
{
    return field * capacity + particle;
}

__global__ void move(float *particles, int count, int capacity, float seconds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count)
        return;
    for (int axis = X; axis <= Z; axis++)
        particles[place(i, axis, capacity)] += seconds * particles[place(i, axis + VELOCITY_X, capacity)];
}
