// Who runs now on this OS thread, the index variables that its kernel reads, and the list of workers.
#include "machine/worker.h"

#include "machine/index.h"

__thread sim_worker *sim_current;
__thread sim_dim sim_thread_index_variable, sim_block_index_variable;
// Before the first launch functors of Thrust are called as by one thread, which may count by the size of the grid.
__thread sim_dim sim_block_size_variable = {1, 1, 1}, sim_grid_size_variable = {1, 1, 1};

bool sim_watching;
int sim_workers = 1, sim_workers_taking_part = 1;
static sim_worker *workers[SIM_WORKERS_MOST];

sim_worker *sim_worker_at(int number)
{
    return workers[number];
}

void sim_worker_add(int number, sim_worker *worker)
{
    workers[number] = worker;
}
