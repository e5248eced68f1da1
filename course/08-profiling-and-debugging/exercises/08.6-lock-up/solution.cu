// Finds the best score and who made it: one thread per player. *lock is 0 when nobody has the lock.
//
// At the barrier, the holder of the lock waited for the other lanes of its warp, and they waited for the lock. Between
// taking a lock and giving it back, a thread must not wait for anybody. Here a thread that gets the lock does its work
// and gives the lock back within the same turn of the loop, so no lane ever waits for it in between.

__global__ void find_best(const int *scores, int players, int *lock, int *best_score, int *best_player)
{
    int player = blockIdx.x * blockDim.x + threadIdx.x;
    bool done = player >= players;

    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) { // took the lock
            __threadfence();
            if (scores[player] > *best_score) {
                *best_score = scores[player];
                *best_player = player;
            }
            __threadfence(); // what was written must be visible before the lock is free
            atomicExch(lock, 0);
            done = true;
        }
    }
}
