// One matrix product over the pool: how many pieces it is cut into along m, n and k, and how the partial sums of a cut
// along k are added. The kernel decides how a piece is computed.

#include "ops/matmul/gemm.h"

#include <math.h>
#include <stddef.h>

#include "ops/pieces.h"

// Pieces as a grid. Cutting m or n makes the kernel read the other operand once more. Cutting k costs a partial result
// of m * n, and an ordered sum at the end.
typedef struct piece_grid {
    int m_pieces, n_pieces, k_pieces;
    int m_step, n_step, k_step;
} piece_grid;

enum {
    // Steps are multiples of this, which suits every kernel's tile along m and n and its unrolling along k.
    STEP_UNIT = 24,
    LEAST_STEP = 96,    // narrower pieces leave a kernel too little reuse
    ENOUGH_PIECES = 16, // with few threads; large products are cut further
    MOST_PIECES = 1024,
};
static const double least_flops = 2e6;   // some 30 µs of a core: well above the cost of handing over a piece
static const double plenty_flops = 64e6; // pieces this large are cut further, for machines with many cores

static int step_of(int extent, int pieces)
{
    int step = (extent + pieces - 1) / pieces;
    return pieces == 1 ? extent : (step + STEP_UNIT - 1) / STEP_UNIT * STEP_UNIT;
}

static bool may_halve(int extent, int pieces)
{
    return extent / (2 * pieces) >= LEAST_STEP;
}

static void set_steps(piece_grid *grid, int m, int n, int k)
{
    grid->m_step = step_of(m, grid->m_pieces);
    grid->n_step = step_of(n, grid->n_pieces);
    grid->k_step = step_of(k, grid->k_pieces);
    // Rounding steps up may have left the last pieces empty.
    grid->m_pieces = grid->m_step ? (m + grid->m_step - 1) / grid->m_step : 1;
    grid->n_pieces = grid->n_step ? (n + grid->n_step - 1) / grid->n_step : 1;
    grid->k_pieces = grid->k_step ? (k + grid->k_step - 1) / grid->k_step : 1;
}

// Halves along the cheapest direction until pieces are small enough or many enough.
static piece_grid choose_grid(int m, int n, int k)
{
    piece_grid grid = {.m_pieces = 1, .n_pieces = 1, .k_pieces = 1};
    for (;;) {
        int pieces = grid.m_pieces * grid.n_pieces * grid.k_pieces;
        double flops = 2.0 * m * n * k / pieces;
        if (flops < 2 * least_flops || (pieces >= ENOUGH_PIECES && flops < plenty_flops) || 2 * pieces > MOST_PIECES)
            break;
        double m_cost = may_halve(m, grid.m_pieces) ? (double)k * n * grid.m_pieces : INFINITY;
        double n_cost = may_halve(n, grid.n_pieces) ? (double)m * k * grid.n_pieces : INFINITY;
        double k_cost = may_halve(k, grid.k_pieces) ? 2.0 * m * n * grid.k_pieces : INFINITY;
        if (isinf(m_cost) && isinf(n_cost) && isinf(k_cost))
            break;
        if (n_cost <= m_cost && n_cost <= k_cost)
            grid.n_pieces *= 2;
        else if (m_cost <= k_cost)
            grid.m_pieces *= 2;
        else
            grid.k_pieces *= 2;
    }
    set_steps(&grid, m, n, k);
    return grid;
}

typedef struct gemm_work {
    const heddle_gemm *gemm;
    const heddle_gemm_kernel *kernel;
    piece_grid grid;
    char *scratch;   // scratch_bytes per worker
    float *partials; // (k_pieces, m, n), if k is cut
} gemm_work;

// c = beta * c + bias, so that the product only has to be added.
static void start_from_bias(heddle_gemm *gemm)
{
    for (int i = 0; i < gemm->m; i++) {
        float *row = gemm->c + (ptrdiff_t)i * gemm->leading_c;
        for (int j = 0; j < gemm->n; j++)
            row[j] = gemm->beta == 0.0f ? gemm->bias[j] : gemm->beta * row[j] + gemm->bias[j];
    }
    gemm->beta = 1.0f;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static void run_piece(void *context, int index, int worker)
{
    const gemm_work *work = context;
    const piece_grid *grid = &work->grid;
    const heddle_gemm *whole = work->gemm;
    int k_index = index % grid->k_pieces;
    int m_begin = index / grid->k_pieces % grid->m_pieces * grid->m_step;
    int n_begin = index / grid->k_pieces / grid->m_pieces * grid->n_step;
    int k_begin = k_index * grid->k_step;

    heddle_gemm part = *whole;
    part.m = least(grid->m_step, whole->m - m_begin);
    part.n = least(grid->n_step, whole->n - n_begin);
    part.k = least(grid->k_step, whole->k - k_begin);
    ptrdiff_t leading_a = whole->leading_a, leading_b = whole->leading_b;
    part.a += whole->transpose_a ? k_begin * leading_a + m_begin : m_begin * leading_a + k_begin;
    part.b += whole->transpose_b ? n_begin * leading_b + k_begin : k_begin * leading_b + n_begin;
    if (grid->k_pieces > 1) {
        ptrdiff_t place = ((ptrdiff_t)k_index * whole->m + m_begin) * whole->n + n_begin;
        part.c = work->partials + place;
        part.leading_c = whole->n;
        part.alpha = 1.0f;
        part.beta = 0.0f;
    } else {
        part.c += m_begin * (ptrdiff_t)whole->leading_c + n_begin;
        if (part.bias) {
            part.bias += n_begin;
            start_from_bias(&part);
        }
    }
    work->kernel->run(&part, work->scratch + (size_t)worker * heddle_align_bytes(work->kernel->scratch_bytes));
}

enum { COMBINE_WIDTH = 256 }; // columns summed at a time: 1 KiB that stays in L1

// Rows [begin, end) of c from the partial results, added in the order of k.
static void combine_rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const gemm_work *work = context;
    const heddle_gemm *gemm = work->gemm;
    int partials = gemm->k > 0 ? work->grid.k_pieces : 0;
    for (size_t i = begin; i < end; i++)
        for (int first = 0; first < gemm->n; first += COMBINE_WIDTH) {
            int width = least(COMBINE_WIDTH, gemm->n - first);
            float sum[COMBINE_WIDTH] = {0};
            for (int p = 0; p < partials; p++) {
                const float *partial = work->partials + ((size_t)p * gemm->m + i) * gemm->n + first;
                for (int j = 0; j < width; j++)
                    sum[j] += partial[j];
            }
            float *c = gemm->c + (ptrdiff_t)i * gemm->leading_c + first;
            for (int j = 0; j < width; j++) {
                float before = gemm->beta == 0.0f ? 0.0f : gemm->beta * c[j];
                c[j] = gemm->alpha * sum[j] + before + (gemm->bias ? gemm->bias[first + j] : 0.0f);
            }
        }
}

void heddle_gemm_run(heddle_pool *pool, const heddle_gemm_kernel *kernel, const heddle_gemm *gemm, void *workspace)
{
    if (gemm->m == 0 || gemm->n == 0)
        return;
    size_t scratch = (size_t)heddle_pool_threads(pool) * heddle_align_bytes(kernel->scratch_bytes);
    void *after_scratch = workspace ? (char *)workspace + scratch : NULL;
    gemm_work work = {.gemm = gemm,
                      .kernel = kernel,
                      .grid = choose_grid(gemm->m, gemm->n, gemm->k),
                      .scratch = workspace,
                      .partials = after_scratch};
    if (gemm->k > 0)
        heddle_pool_run(pool, work.grid.m_pieces * work.grid.n_pieces * work.grid.k_pieces, run_piece, &work);
    if (gemm->k == 0 || work.grid.k_pieces > 1)
        heddle_pieces_run(pool, (size_t)gemm->m, heddle_piece_rows((size_t)gemm->n), combine_rows, &work);
}

size_t heddle_gemm_workspace(const heddle_gemm_kernel *kernel, int m, int n, int k, int threads)
{
    piece_grid grid = choose_grid(m, n, k);
    size_t partials = grid.k_pieces > 1 ? (size_t)grid.k_pieces * (size_t)m * (size_t)n * sizeof(float) : 0;
    return (size_t)threads * heddle_align_bytes(kernel->scratch_bytes) + partials;
}
