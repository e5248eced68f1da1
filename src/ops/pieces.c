// Pieces of fixed size over the thread pool.

#include "ops/pieces.h"

int heddle_piece_count(size_t total, size_t grain)
{
    return (int)((total + grain - 1) / grain);
}

typedef struct split {
    heddle_piece_task *task;
    void *context;
    size_t total, grain;
} split;

static void run_piece(void *context, int index, int worker)
{
    const split *work = context;
    size_t begin = (size_t)index * work->grain;
    size_t end = begin + work->grain < work->total ? begin + work->grain : work->total;
    work->task(work->context, begin, end, index, worker);
}

void heddle_pieces_run(heddle_pool *pool, size_t total, size_t grain, heddle_piece_task *task, void *context)
{
    split work = {.task = task, .context = context, .total = total, .grain = grain};
    heddle_pool_run(pool, heddle_piece_count(total, grain), run_piece, &work);
}

size_t heddle_piece_rows(size_t row_elements)
{
    return row_elements >= HEDDLE_PIECE_ELEMENTS || row_elements == 0 ? 1 : HEDDLE_PIECE_ELEMENTS / row_elements;
}
