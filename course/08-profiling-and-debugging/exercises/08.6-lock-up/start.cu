// Finds the best score and who made it: one thread per player. *lock is 0 when nobody has the lock.

__global__ void find_best(const int *scores, int players, int *lock, int *best_score, int *best_player)
{
    int player = blockIdx.x * blockDim.x + threadIdx.x;

    if (player < players) {
        while (atomicCAS(lock, 0, 1) != 0) // take the lock
            ;
        __syncwarp(); // the warp goes on together
        __threadfence();
        if (scores[player] > *best_score) {
            *best_score = scores[player];
            *best_player = player;
        }
        __threadfence(); // what was written must be visible before the lock is free
        atomicExch(lock, 0);
    }
}
