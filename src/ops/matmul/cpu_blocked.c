// matmul, second rung: blocks packed for the caches, a tile of the result in registers, all threads.
//
// The naive loop loads two numbers per multiplication and walks one operand down its columns. Here a block of each
// operand is first copied into panels that are stored in the order they are read:
//
//     a: (k, TILE_ROWS) panels      b: (k, TILE_COLUMNS) panels      c: tiles of (TILE_ROWS, TILE_COLUMNS)
//
// The inner loop then reads TILE_ROWS + TILE_COLUMNS numbers in sequence and does TILE_ROWS * TILE_COLUMNS
// multiplications with them, with all sums in registers.
//
// Limited by: the multiplier units; the copying costs 5 to 20 % if m or n is small.

#include <string.h>

#include "ops/clones.h"
#include "ops/matmul/gemm.h"
#include "ops/matmul/matmul.h"

#if defined(__x86_64__)
enum {
    LANES = 8,     // AVX2; SSE2 makes two of each
    TILE_ROWS = 6, // 6 x 2 sums, 2 of b and a broadcast of a fill AVX2's 16 registers
    TILE_VECTORS = 2,
};
#else
enum {
    LANES = 4,     // NEON
    TILE_ROWS = 8, // 8 x 3 sums, 3 of b and 2 of a out of NEON's 32 registers
    TILE_VECTORS = 3,
};
#endif

enum {
    TILE_COLUMNS = TILE_VECTORS * LANES,
    BLOCK_K = 256,       // a panel of b (12 or 16 KiB) stays in the L1 cache
    BLOCK_M = 120,       // a block of a (120 KiB) stays in the L2 cache; both tile heights divide it
    BLOCK_N = 384,       // a block of b, 384 KiB, likewise
    PANEL_ALIGNMENT = 64 // cache line
};

typedef float vector __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

typedef float quad __attribute__((vector_size(4 * sizeof(float)), aligned(4), may_alias));

// Four lines of a source become four columns of a panel: 4x4 blocks transposed in registers.
static inline void transpose_lines(float *restrict panel, int width, const float *restrict source, int k,
                                   ptrdiff_t line_stride)
{
    int p = 0;
    for (; p + 4 <= k; p += 4) {
        quad row0 = *(const quad *)(source + p), row1 = *(const quad *)(source + line_stride + p);
        quad row2 = *(const quad *)(source + 2 * line_stride + p), row3 = *(const quad *)(source + 3 * line_stride + p);
        quad even0 = __builtin_shufflevector(row0, row1, 0, 4, 2, 6);
        quad odd0 = __builtin_shufflevector(row0, row1, 1, 5, 3, 7);
        quad even1 = __builtin_shufflevector(row2, row3, 0, 4, 2, 6);
        quad odd1 = __builtin_shufflevector(row2, row3, 1, 5, 3, 7);
        float *to = panel + (ptrdiff_t)p * width;
        *(quad *)to = __builtin_shufflevector(even0, even1, 0, 1, 4, 5);
        *(quad *)(to + width) = __builtin_shufflevector(odd0, odd1, 0, 1, 4, 5);
        *(quad *)(to + 2 * width) = __builtin_shufflevector(even0, even1, 2, 3, 6, 7);
        *(quad *)(to + 3 * width) = __builtin_shufflevector(odd0, odd1, 2, 3, 6, 7);
    }
    for (; p < k; p++)
        for (int x = 0; x < 4; x++)
            panel[(ptrdiff_t)p * width + x] = source[x * line_stride + p];
}

// panel (k, width): column x of the panel is line x of the source, zero from `lines` on. Line x, position p is source[x
// * line_stride + p * position_stride]; one of the strides is 1.
static inline void pack_panel(float *restrict panel, int width, const float *restrict source, int lines, int k,
                              ptrdiff_t line_stride, ptrdiff_t position_stride)
{
    if (lines < width)
        memset(panel, 0, (size_t)width * (size_t)k * sizeof *panel);
    if (line_stride == 1) {
        for (int p = 0; p < k; p++)
            memcpy(panel + (ptrdiff_t)p * width, source + p * position_stride,
                   (size_t)(lines < width ? lines : width) * sizeof *panel);
        return;
    }
    int x = 0;
    for (; x + 4 <= lines; x += 4)
        transpose_lines(panel + x, width, source + x * line_stride, k, line_stride);
    for (; x < lines; x++)
        for (int p = 0; p < k; p++)
            panel[(ptrdiff_t)p * width + x] = source[x * line_stride + p];
}

// tile (TILE_ROWS, TILE_COLUMNS) = a panel (k, TILE_ROWS)ᵀ * b panel (k, TILE_COLUMNS)
HEDDLE_CLONES static void multiply_panels(int k, const float *restrict a, const float *restrict b, float *restrict tile)
{
    vector sum[TILE_ROWS][TILE_VECTORS];
    for (int i = 0; i < TILE_ROWS; i++)
        for (int j = 0; j < TILE_VECTORS; j++)
            sum[i][j] = (vector){0};
    for (int p = 0; p < k; p++) {
        vector a_lanes[TILE_ROWS / LANES + 1];
#pragma GCC unroll 2
        for (int i = 0; i < TILE_ROWS / LANES; i++)
            a_lanes[i] = *(const vector *)(a + i * LANES);
#pragma GCC unroll 4
        for (int j = 0; j < TILE_VECTORS; j++) {
            vector b_vector = *(const vector *)(b + j * LANES);
#pragma GCC unroll 8
            for (int i = 0; i < TILE_ROWS; i++)
                sum[i][j] += b_vector * (TILE_ROWS < LANES ? a[i] : a_lanes[i / LANES][i % LANES]);
        }
        a += TILE_ROWS;
        b += TILE_COLUMNS;
    }
    for (int i = 0; i < TILE_ROWS; i++)
        for (int j = 0; j < TILE_VECTORS; j++)
            *(vector *)(tile + i * TILE_COLUMNS + j * LANES) = sum[i][j];
}

// c = alpha * tile + beta * c, for the part of the tile that is inside c.
static void store_tile(const float *restrict tile, int rows, int columns, float alpha, float beta, float *restrict c,
                       ptrdiff_t leading_c)
{
    for (int i = 0; i < rows; i++)
        if (beta == 0.0f)
            for (int j = 0; j < columns; j++)
                c[i * leading_c + j] = alpha * tile[i * TILE_COLUMNS + j];
        else
            for (int j = 0; j < columns; j++)
                c[i * leading_c + j] = alpha * tile[i * TILE_COLUMNS + j] + beta * c[i * leading_c + j];
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

// A block of c from a packed block of a (panels of TILE_ROWS) and of b (panels of TILE_COLUMNS).
static void multiply_block(const float *a, const float *b, int m, int n, int k, float alpha, float beta, float *c,
                           ptrdiff_t leading_c)
{
    _Alignas(PANEL_ALIGNMENT) float tile[TILE_ROWS * TILE_COLUMNS];
    for (int j = 0; j < n; j += TILE_COLUMNS)
        for (int i = 0; i < m; i += TILE_ROWS) {
            multiply_panels(k, a + (ptrdiff_t)i * k, b + (ptrdiff_t)j * k, tile);
            store_tile(tile, least(TILE_ROWS, m - i), least(TILE_COLUMNS, n - j), alpha, beta, c + i * leading_c + j,
                       leading_c);
        }
}

static void pack_a(const heddle_gemm *gemm, int m_begin, int m, int k_begin, int k, float *packed)
{
    ptrdiff_t row = gemm->transpose_a ? 1 : gemm->leading_a, position = gemm->transpose_a ? gemm->leading_a : 1;
    for (int i = 0; i < m; i += TILE_ROWS)
        pack_panel(packed + (ptrdiff_t)i * k, TILE_ROWS, gemm->a + (m_begin + i) * row + k_begin * position,
                   least(TILE_ROWS, m - i), k, row, position);
}

static void pack_b(const heddle_gemm *gemm, int n_begin, int n, int k_begin, int k, float *packed)
{
    ptrdiff_t column = gemm->transpose_b ? gemm->leading_b : 1, position = gemm->transpose_b ? 1 : gemm->leading_b;
    for (int j = 0; j < n; j += TILE_COLUMNS)
        pack_panel(packed + (ptrdiff_t)j * k, TILE_COLUMNS, gemm->b + (n_begin + j) * column + k_begin * position,
                   least(TILE_COLUMNS, n - j), k, column, position);
}

// --- one row --------------------------------------------------------------------------------------------------------
// A single row of c (a batch of one) would pack all of b and use it once; it reads b as it is stored.

enum { DOT_LANES = 16 }; // independent sums, to hide the latency of an addition

HEDDLE_CLONES static float dot(const float *restrict a, const float *restrict b, int k)
{
    float sums[DOT_LANES] = {0}, total = 0;
    int p = 0;
    for (; p + DOT_LANES <= k; p += DOT_LANES)
        for (int lane = 0; lane < DOT_LANES; lane++)
            sums[lane] += a[p + lane] * b[p + lane];
    for (int lane = 0; lane < DOT_LANES; lane++)
        total += sums[lane];
    for (; p < k; p++)
        total += a[p] * b[p];
    return total;
}

HEDDLE_CLONES static void add_multiple(float factor, const float *restrict b, int n, float *restrict c)
{
    for (int j = 0; j < n; j++)
        c[j] += factor * b[j];
}

static void run_one_row(const heddle_gemm *gemm)
{
    ptrdiff_t a_step = gemm->transpose_a ? gemm->leading_a : 1;
    for (int j = 0; j < gemm->n; j++)
        gemm->c[j] = gemm->beta == 0.0f ? 0.0f : gemm->beta * gemm->c[j];
    if (gemm->transpose_b)
        for (int j = 0; j < gemm->n; j++)
            gemm->c[j] += gemm->alpha * dot(gemm->a, gemm->b + (ptrdiff_t)j * gemm->leading_b, gemm->k);
    else
        for (int p = 0; p < gemm->k; p++)
            add_multiple(gemm->alpha * gemm->a[p * a_step], gemm->b + (ptrdiff_t)p * gemm->leading_b, gemm->n, gemm->c);
}

// --- many rows ------------------------------------------------------------------------------------------------------

// gemm->k is at least 1.
static void run_blocked(const heddle_gemm *gemm, void *scratch)
{
    bool a_is_dense = !gemm->transpose_a || gemm->leading_a == 1;
    if (gemm->m == 1 && (a_is_dense || !gemm->transpose_b)) {
        run_one_row(gemm);
        return;
    }
    float *packed_a = scratch, *packed_b = packed_a + BLOCK_M * BLOCK_K;
    for (int n_begin = 0; n_begin < gemm->n; n_begin += BLOCK_N) {
        int n = least(BLOCK_N, gemm->n - n_begin);
        for (int k_begin = 0; k_begin < gemm->k; k_begin += BLOCK_K) {
            int k = least(BLOCK_K, gemm->k - k_begin);
            pack_b(gemm, n_begin, n, k_begin, k, packed_b);
            for (int m_begin = 0; m_begin < gemm->m; m_begin += BLOCK_M) {
                int m = least(BLOCK_M, gemm->m - m_begin);
                pack_a(gemm, m_begin, m, k_begin, k, packed_a);
                float *c = gemm->c + (ptrdiff_t)m_begin * gemm->leading_c + n_begin;
                multiply_block(packed_a, packed_b, m, n, k, gemm->alpha, k_begin ? 1.0f : gemm->beta, c,
                               gemm->leading_c);
            }
        }
    }
}

const heddle_gemm_kernel heddle_gemm_blocked = {
    .run = run_blocked,
    .scratch_bytes = (BLOCK_M + BLOCK_N) * BLOCK_K * sizeof(float),
};

_Static_assert(BLOCK_M % TILE_ROWS == 0 && BLOCK_N % TILE_COLUMNS == 0, "panels must fill a block");

heddle_status heddle_matmul_forward_cpu_blocked(const heddle_call *call)
{
    return heddle_matmul_forward_by(&heddle_gemm_blocked, call);
}

heddle_status heddle_matmul_backward_cpu_blocked(const heddle_call *call)
{
    return heddle_matmul_backward_by(&heddle_gemm_blocked, call);
}

size_t heddle_matmul_forward_cpu_blocked_workspace(const void *shape, int threads)
{
    return heddle_matmul_forward_workspace_by(&heddle_gemm_blocked, shape, threads);
}

size_t heddle_matmul_backward_cpu_blocked_workspace(const void *shape, int threads)
{
    return heddle_matmul_backward_workspace_by(&heddle_gemm_blocked, shape, threads);
}
