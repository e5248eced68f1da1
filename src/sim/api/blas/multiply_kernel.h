// The inner part of multiply.c, once for REAL float and once for double: included twice. No guard for that reason.

// block[row, column] += packed_a: (rows, depth) packed_b: (depth, 2 columns), all column-major. Four steps of depth and
// two columns at once: enough work for each load to keep the vector units busy.
static void NAME(panel)(size_t rows, size_t depth, const REAL *restrict a, const REAL *restrict b0,
                        const REAL *restrict b1, REAL *restrict c0, REAL *restrict c1)
{
    size_t step = 0;
    for (; step + 4 <= depth; step += 4) {
        const REAL *a0 = a + step * rows, *a1 = a0 + rows, *a2 = a1 + rows, *a3 = a2 + rows;
        const REAL p0 = b0[step], p1 = b0[step + 1], p2 = b0[step + 2], p3 = b0[step + 3];
        const REAL q0 = b1[step], q1 = b1[step + 1], q2 = b1[step + 2], q3 = b1[step + 3];
        for (size_t row = 0; row < rows; row++) {
            c0[row] += a0[row] * p0 + a1[row] * p1 + a2[row] * p2 + a3[row] * p3;
            c1[row] += a0[row] * q0 + a1[row] * q1 + a2[row] * q2 + a3[row] * q3;
        }
    }
    for (; step < depth; step++)
        for (size_t row = 0; row < rows; row++) {
            c0[row] += a[step * rows + row] * b0[step];
            c1[row] += a[step * rows + row] * b1[step];
        }
}

static void NAME(pack)(REAL *to, sim_blas_operand from, size_t row, size_t rows, size_t column, size_t columns)
{
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++) {
            size_t at =
                from.transposed ? (column + j) + (row + i) * from.stride : (row + i) + (column + j) * from.stride;
            to[i + j * rows] =
                from.type == TYPE ? ((const REAL *)from.data)[at] : (REAL)sim_blas_load(from.type, from.data, at);
        }
}

// One block of `rows` rows of the result: sums over the whole of k, then alpha and beta.
static void NAME(rows)(const problem *p, size_t row, size_t rows, REAL *a, REAL *b, REAL *sums)
{
    size_t columns = p->n + (p->n & 1); // a lone last column is computed beside one of zeros
    memset(sums, 0, rows * columns * sizeof *sums);
    for (size_t step = 0; step < p->k; step += BLOCK_DEPTH) {
        size_t depth = p->k - step < BLOCK_DEPTH ? p->k - step : BLOCK_DEPTH;
        NAME(pack)(a, p->a, row, rows, step, depth);
        for (size_t column = 0; column < p->n; column += 2) {
            size_t pair = column + 1 < p->n ? 2 : 1;
            memset(b, 0, 2 * depth * sizeof *b);
            NAME(pack)(b, p->b, step, depth, column, pair);
            NAME(panel)(rows, depth, a, b, b + depth, sums + column * rows, sums + (column + 1) * rows);
        }
    }
    for (size_t column = 0; column < p->n; column++)
        for (size_t i = 0; i < rows; i++) {
            size_t at = row + i + column * p->c_stride;
            double value = p->alpha * (double)sums[i + column * rows];
            if (p->beta != 0)
                value += p->beta * sim_blas_load(p->c_type, p->c, at);
            sim_blas_store(p->c_type, p->c, at, value);
        }
}

static void NAME(multiply)(const problem *p)
{
    REAL *a = malloc(sizeof(REAL) * BLOCK_ROWS * BLOCK_DEPTH), *b = malloc(sizeof(REAL) * 2 * BLOCK_DEPTH);
    REAL *sums = malloc(sizeof(REAL) * BLOCK_ROWS * (p->n + 1));
    if (a && b && sums)
        for (size_t row = 0; row < p->m; row += BLOCK_ROWS)
            NAME(rows)(p, row, p->m - row < BLOCK_ROWS ? p->m - row : BLOCK_ROWS, a, b, sums);
    free(a);
    free(b);
    free(sums);
}
