// The inner part of factor.c, once for SCALAR double and once for double complex: included twice. No guard for that
// reason. Matrices are dense and column-major, with as many rows as they are given; signs follow LAPACK.

static SCALAR *NAME(load)(const solver_work *w, const void *data, size_t rows, size_t columns, int stride)
{
    SCALAR *dense = calloc(rows * columns + 1, sizeof *dense);
    for (size_t j = 0; dense && j < columns; j++)
        for (size_t i = 0; i < rows; i++)
            dense[i + j * rows] = LOAD(w->type, data, i + j * (size_t)stride);
    return dense;
}

static void NAME(store)(const solver_work *w, void *data, size_t rows, size_t columns, int stride, const SCALAR *dense,
                        size_t dense_rows)
{
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++)
            STORE(w->type, data, i + j * (size_t)stride, dense[i + j * dense_rows]);
}

static void NAME(add)(size_t n, SCALAR factor, const SCALAR *restrict x, SCALAR *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] += factor * x[i];
}

// x' y, x conjugated
static SCALAR NAME(dot)(size_t n, const SCALAR *x, const SCALAR *y)
{
    SCALAR sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += CONJUGATE(x[i]) * y[i];
    return sum;
}

static double NAME(norm)(size_t n, const SCALAR *x)
{
    return sqrt(REAL_OF(NAME(dot)(n, x, x)));
}

// --- LU and Cholesky ------------------------------------------------------------------------------------------------

static void NAME(swap_rows)(SCALAR *a, size_t rows, size_t columns, size_t one, size_t other)
{
    for (size_t j = 0; one != other && j < columns; j++) {
        SCALAR kept = a[one + j * rows];
        a[one + j * rows] = a[other + j * rows];
        a[other + j * rows] = kept;
    }
}

static int NAME(lu)(const solver_work *w, SCALAR *a, size_t m, size_t n)
{
    int info = 0;
    for (size_t k = 0; k < m && k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; w->pivots && i < m; i++)
            if (SIZE_OF(a[i + k * m]) > SIZE_OF(a[pivot + k * m]))
                pivot = i;
        if (w->pivots)
            store_pivot(w, k, pivot);
        if (a[pivot + k * m] == 0) {
            info = info ? info : (int)k + 1;
            continue;
        }
        NAME(swap_rows)(a, m, n, k, pivot);
        SCALAR inverse = 1 / a[k + k * m];
        for (size_t i = k + 1; i < m; i++)
            a[i + k * m] *= inverse;
        for (size_t j = k + 1; j < n; j++)
            NAME(add)(m - k - 1, -a[k + j * m], a + k + 1 + k * m, a + k + 1 + j * m);
    }
    return info;
}

static SCALAR NAME(element)(const SCALAR *a, size_t n, size_t i, size_t j, bool transposed, bool conjugated)
{
    SCALAR value = transposed ? a[j + i * n] : a[i + j * n];
    return conjugated ? CONJUGATE(value) : value;
}

// x := inverse of op(triangle of A) x. `upper`: the triangle of op(A).
static void NAME(solve)(const SCALAR *a, size_t n, bool upper, bool unit, bool transposed, bool conjugated, SCALAR *x)
{
    for (size_t step = 0; step < n; step++) {
        size_t i = upper ? n - 1 - step : step;
        SCALAR sum = x[i];
        for (size_t j = upper ? i + 1 : 0; j < (upper ? n : i); j++)
            sum -= NAME(element)(a, n, i, j, transposed, conjugated) * x[j];
        x[i] = unit ? sum : sum / NAME(element)(a, n, i, i, transposed, conjugated);
    }
}

static void NAME(lu_solve)(const solver_work *w, const SCALAR *a, size_t n, SCALAR *b, size_t columns)
{
    for (size_t k = 0; w->pivots && !w->transposed && k < n; k++)
        NAME(swap_rows)(b, n, columns, k, (size_t)pivot_at(w, k) - 1);
    for (size_t j = 0; j < columns; j++) {
        NAME(solve)(a, n, false, !w->transposed, w->transposed, w->conjugated, b + j * n);
        NAME(solve)(a, n, true, w->transposed, w->transposed, w->conjugated, b + j * n);
    }
    for (size_t k = n; w->pivots && w->transposed && k-- > 0;)
        NAME(swap_rows)(b, n, columns, k, (size_t)pivot_at(w, k) - 1);
}

// The lower triangle of a: L with L L' = A. Returns the order of the first leading minor that is not positive.
static int NAME(cholesky)(SCALAR *a, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double square = REAL_OF(a[k + k * n]);
        if (!(square > 0))
            return (int)k + 1;
        double root = sqrt(square);
        a[k + k * n] = root;
        for (size_t i = k + 1; i < n; i++)
            a[i + k * n] /= root;
        for (size_t j = k + 1; j < n; j++)
            NAME(add)(n - j, -CONJUGATE(a[j + k * n]), a + j + k * n, a + j + j * n);
    }
    return 0;
}

// The other triangle of a symmetric (Hermitian) matrix from the one that is stored.
static void NAME(mirror)(SCALAR *a, size_t n, bool upper)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = j + 1; i < n; i++) {
            if (upper)
                a[i + j * n] = CONJUGATE(a[j + i * n]);
            else
                a[j + i * n] = CONJUGATE(a[i + j * n]);
        }
}

static void NAME(store_triangle)(const solver_work *w, const SCALAR *a, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            if (w->upper)
                STORE(w->type, w->a, j + i * (size_t)w->lda, CONJUGATE(a[i + j * n]));
            else
                STORE(w->type, w->a, i + j * (size_t)w->lda, a[i + j * n]);
        }
}

// --- QR -------------------------------------------------------------------------------------------------------------

// x := (1 - tau v v') x for the reflector k of a; v is 1 at k and stored below.
static void NAME(reflect)(const SCALAR *a, size_t rows, size_t k, SCALAR tau, SCALAR *x)
{
    const SCALAR *v = a + k + 1 + k * rows;
    SCALAR along = tau * (x[k] + NAME(dot)(rows - k - 1, v, x + k + 1));
    x[k] -= along;
    NAME(add)(rows - k - 1, -along, v, x + k + 1);
}

static void NAME(qr)(SCALAR *a, size_t m, size_t n, SCALAR *tau)
{
    for (size_t k = 0; k < m && k < n; k++) {
        SCALAR *x = a + k + k * m, alpha = x[0];
        double below = NAME(norm)(m - k - 1, x + 1);
        tau[k] = 0;
        if (below == 0 && alpha == REAL_OF(alpha))
            continue;
        double beta = -copysign(hypot(SIZE_OF(alpha), below), REAL_OF(alpha));
        tau[k] = (beta - alpha) / beta;
        for (size_t i = 1; i < m - k; i++)
            x[i] /= alpha - beta;
        x[0] = beta;
        for (size_t j = k + 1; j < n; j++)
            NAME(reflect)(a, m, k, CONJUGATE(tau[k]), a + j * m);
    }
}

// C := op(Q) C, C with as many rows as a. Q is the product of the reflectors in order.
static void NAME(apply_q)(const SCALAR *a, size_t rows, size_t k, const SCALAR *tau, bool transposed, SCALAR *c,
                          size_t columns)
{
    for (size_t j = 0; j < columns; j++)
        for (size_t step = 0; step < k; step++) {
            size_t i = transposed ? step : k - 1 - step;
            NAME(reflect)(a, rows, i, transposed ? CONJUGATE(tau[i]) : tau[i], c + j * rows);
        }
}

static void NAME(transpose)(const SCALAR *from, size_t rows, size_t columns, SCALAR *to)
{
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++)
            to[j + i * columns] = CONJUGATE(from[i + j * rows]);
}

// --- eigenvalues and singular values --------------------------------------------------------------------------------

typedef struct NAME(rotation) {
    double c, s;
    SCALAR phase;
} NAME(rotation);

// That makes the element `across` of [first, across; across', second] zero.
static NAME(rotation) NAME(rotation_for)(double first, double second, SCALAR across)
{
    double size = SIZE_OF(across), theta = (second - first) / (2 * size);
    double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1);
    return (NAME(rotation)){c, t * c, across / size};
}

static void NAME(rotate)(NAME(rotation) r, size_t n, SCALAR *p, SCALAR *q)
{
    for (size_t i = 0; i < n; i++) {
        SCALAR x = p[i], y = q[i];
        p[i] = r.c * x - r.s * CONJUGATE(r.phase) * y;
        q[i] = r.s * r.phase * x + r.c * y;
    }
}

static void NAME(identity)(SCALAR *v, size_t n)
{
    for (size_t i = 0; i < n * n; i++)
        v[i] = i % (n + 1) == 0;
}

// Exchanges columns until the values rise (or fall).
static void NAME(sort)(double *values, size_t count, bool falling, SCALAR *one, size_t one_rows, SCALAR *two,
                       size_t two_rows)
{
    for (size_t i = 0; i < count; i++) {
        size_t best = i;
        for (size_t j = i + 1; j < count; j++)
            if (falling ? values[j] > values[best] : values[j] < values[best])
                best = j;
        double kept = values[i];
        values[i] = values[best];
        values[best] = kept;
        for (size_t k = 0; best != i && k < one_rows; k++) {
            SCALAR element = one[k + i * one_rows];
            one[k + i * one_rows] = one[k + best * one_rows];
            one[k + best * one_rows] = element;
        }
        for (size_t k = 0; best != i && two && k < two_rows; k++) {
            SCALAR element = two[k + i * two_rows];
            two[k + i * two_rows] = two[k + best * two_rows];
            two[k + best * two_rows] = element;
        }
    }
}

// Jacobi's method: A V = V diag(values), values rising. A is used up.
static void NAME(eigen)(SCALAR *a, size_t n, double *values, SCALAR *v)
{
    bool again = true;
    NAME(identity)(v, n);
    for (int sweep = 0; again && sweep < MOST_SWEEPS; sweep++) {
        again = false;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                double first = REAL_OF(a[p + p * n]), second = REAL_OF(a[q + q * n]);
                SCALAR across = a[p + q * n];
                if (SIZE_OF(across) <= 1e-17 * (fabs(first) + fabs(second)) || SIZE_OF(across) < 1e-300)
                    continue;
                again = true;
                NAME(rotation) r = NAME(rotation_for)(first, second, across);
                NAME(rotate)(r, n, a + p * n, a + q * n);
                for (size_t i = 0; i < n; i++) { // the rows follow from the columns
                    SCALAR x = a[p + i * n], y = a[q + i * n];
                    a[p + i * n] = r.c * x - r.s * r.phase * y;
                    a[q + i * n] = r.s * CONJUGATE(r.phase) * x + r.c * y;
                }
                NAME(rotate)(r, n, v + p * n, v + q * n);
            }
    }
    for (size_t i = 0; i < n; i++)
        values[i] = REAL_OF(a[i + i * n]);
    NAME(sort)(values, n, false, v, n, NULL, 0);
}

// Columns `from` to m of the m by m matrix u: unit vectors at right angles to all before.
static void NAME(complete)(SCALAR *u, size_t m, size_t from)
{
    size_t axis = 0;
    for (size_t j = from; j < m; j++) {
        SCALAR *column = u + j * m;
        double left = 0;
        while (left < 0.5 / sqrt((double)m)) {
            memset(column, 0, m * sizeof *column);
            column[axis++ % m] = 1;
            for (int twice = 0; twice < 2; twice++)
                for (size_t k = 0; k < j; k++)
                    NAME(add)(m, -NAME(dot)(m, u + k * m, column), u + k * m, column);
            left = NAME(norm)(m, column);
        }
        for (size_t i = 0; i < m; i++)
            column[i] /= left;
    }
}

// One-sided Jacobi: u, m by m, holds A in its first n columns and then U; A = U diag(values) V'.
static void NAME(singular)(SCALAR *u, size_t m, size_t n, double *values, SCALAR *v)
{
    bool again = true;
    NAME(identity)(v, n);
    for (int sweep = 0; again && sweep < MOST_SWEEPS; sweep++) {
        again = false;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                SCALAR *x = u + p * m, *y = u + q * m, across = NAME(dot)(m, x, y);
                double first = REAL_OF(NAME(dot)(m, x, x)), second = REAL_OF(NAME(dot)(m, y, y));
                if (SIZE_OF(across) <= 1e-15 * sqrt(first * second) || SIZE_OF(across) < 1e-300)
                    continue;
                again = true;
                NAME(rotation) r = NAME(rotation_for)(first, second, across);
                NAME(rotate)(r, m, x, y);
                NAME(rotate)(r, n, v + p * n, v + q * n);
            }
    }
    size_t rank = 0;
    for (size_t j = 0; j < n; j++)
        values[j] = NAME(norm)(m, u + j * m);
    NAME(sort)(values, n, true, u, m, v, n);
    for (; rank < n && values[rank] > 1e-14 * values[0]; rank++)
        for (size_t i = 0; i < m; i++)
            u[i + rank * m] /= values[rank];
    NAME(complete)(u, m, rank);
}

// --- one piece of work ----------------------------------------------------------------------------------------------

static void NAME(store_values)(const solver_work *w, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sim_blas_store(w->type, w->tau, i, values[i]);
}

static void NAME(run_syevd)(const solver_work *w, SCALAR *a, SCALAR *v, double *values)
{
    size_t n = (size_t)w->n;
    NAME(mirror)(a, n, w->upper);
    NAME(eigen)(a, n, values, v);
    NAME(store_values)(w, values, n);
    if (w->vectors)
        NAME(store)(w, w->a, n, n, w->lda, v, n);
}

static void NAME(run_gesvd)(const solver_work *w, const SCALAR *a, SCALAR *u, SCALAR *v, SCALAR *adjoint,
                            double *values)
{
    size_t m = (size_t)w->m, n = (size_t)w->n;
    memcpy(u, a, m * n * sizeof *u);
    NAME(singular)(u, m, n, values, v);
    NAME(store_values)(w, values, n);
    NAME(transpose)(v, n, n, adjoint);
    if (w->jobu == 'A' || w->jobu == 'S')
        NAME(store)(w, w->u, m, w->jobu == 'A' ? m : n, w->ldu, u, m);
    if (w->jobvt == 'A' || w->jobvt == 'S')
        NAME(store)(w, w->vt, n, n, w->ldvt, adjoint, n);
    if (w->jobu == 'O')
        NAME(store)(w, w->a, m, n, w->lda, u, m);
    if (w->jobvt == 'O')
        NAME(store)(w, w->a, n, n, w->lda, adjoint, n);
}

static void NAME(run_qr)(const solver_work *w, SCALAR *a, SCALAR *tau, SCALAR *b, SCALAR *spare)
{
    size_t m = (size_t)w->m, n = (size_t)w->n, k = (size_t)w->k;
    if (w->operation == GEQRF) {
        NAME(qr)(a, m, n, tau);
        NAME(store)(w, w->a, m, n, w->lda, a, m);
        NAME(store)(w, w->tau, m < n ? m : n, 1, 1, tau, m < n ? m : n);
    } else if (w->operation == ORGQR) {
        for (size_t i = 0; i < m * n; i++)
            spare[i] = i % m == i / m;
        NAME(apply_q)(a, m, k, tau, false, spare, n);
        NAME(store)(w, w->a, m, n, w->lda, spare, m);
    } else if (w->right) { // C op(Q) is the adjoint of op(Q)' C'
        NAME(transpose)(b, m, n, spare);
        NAME(apply_q)(a, n, k, tau, !w->transposed, spare, m);
        NAME(transpose)(spare, n, m, b);
        NAME(store)(w, w->b, m, n, w->ldb, b, m);
    } else {
        NAME(apply_q)(a, m, k, tau, w->transposed, b, n);
        NAME(store)(w, w->b, m, n, w->ldb, b, m);
    }
}

// The least squares of m >= n equations. Returns the first column without one of its own; 0: all have.
static int NAME(run_gels)(const solver_work *w, SCALAR *a, SCALAR *tau, SCALAR *b, SCALAR *triangle)
{
    size_t m = (size_t)w->m, n = (size_t)w->n, columns = (size_t)w->k;
    NAME(qr)(a, m, n, tau);
    NAME(store)(w, w->a, m, n, w->lda, a, m);
    for (size_t j = 0; j < n; j++) {
        if (a[j + j * m] == 0)
            return (int)j + 1;
        memcpy(triangle + j * n, a + j * m, n * sizeof *triangle);
    }
    NAME(apply_q)(a, m, n, tau, true, b, columns);
    for (size_t j = 0; j < columns; j++)
        NAME(solve)(triangle, n, true, false, false, false, b + j * m);
    NAME(store)(w, w->b, m, columns, w->ldb, b, m);
    return 0;
}

static int NAME(run_square)(const solver_work *w, SCALAR *a, SCALAR *b)
{
    size_t n = (size_t)w->n, columns = (size_t)w->k;
    if (w->operation == GETRS) {
        NAME(lu_solve)(w, a, n, b, columns);
    } else if (w->operation == POTRS) {
        for (size_t j = 0; j < columns; j++) {
            NAME(solve)(a, n, false, false, w->upper, w->upper, b + j * n);
            NAME(solve)(a, n, true, false, !w->upper, !w->upper, b + j * n);
        }
    } else {
        NAME(mirror)(a, n, w->upper);
        int info = NAME(cholesky)(a, n);
        if (info == 0)
            NAME(store_triangle)(w, a, n);
        return info;
    }
    NAME(store)(w, w->b, n, columns, w->ldb, b, n);
    return 0;
}

static int NAME(run)(const solver_work *w)
{
    size_t m = (size_t)w->m, n = (size_t)w->n, k = (size_t)w->k, most = m > n ? m : n;
    bool in_b = w->operation == GETRS || w->operation == POTRS || w->operation == GELS,
         rotated = w->operation == SYEVD || w->operation == GESVD;
    bool reflectors = w->operation == ORGQR || w->operation == ORMQR;
    size_t rows = w->operation == ORMQR && w->right ? n : m;
    SCALAR *a = NAME(load)(w, w->a, rows, reflectors ? k : n, w->lda);
    SCALAR *b = in_b                    ? NAME(load)(w, w->b, m, k, w->ldb)
                : w->operation == ORMQR ? NAME(load)(w, w->b, m, n, w->ldb)
                                        : NULL;
    SCALAR *tau = reflectors ? NAME(load)(w, w->tau, k, 1, 1) : calloc(most + 1, sizeof *tau);
    SCALAR *square = calloc(rotated || reflectors || w->operation == GELS ? most * most : 1, sizeof *square);
    SCALAR *v = calloc(rotated ? n * n : 1, sizeof *v), *adjoint = calloc(rotated ? n * n : 1, sizeof *adjoint);
    double *values = calloc(n + 1, sizeof *values);
    int info = 0;
    if (!a || !tau || !square || !v || !adjoint || !values || ((in_b || w->operation == ORMQR) && !b)) {
        info = -1;
    } else if (w->operation == GETRF) {
        info = NAME(lu)(w, a, m, n);
        NAME(store)(w, w->a, m, n, w->lda, a, m);
    } else if (w->operation == SYEVD) {
        NAME(run_syevd)(w, a, v, values);
    } else if (w->operation == GESVD) {
        NAME(run_gesvd)(w, a, square, v, adjoint, values);
    } else if (w->operation == GELS) {
        info = NAME(run_gels)(w, a, tau, b, square);
    } else if (w->operation == GEQRF || reflectors) {
        NAME(run_qr)(w, a, tau, b, square);
    } else {
        info = NAME(run_square)(w, a, b);
    }
    free(a), free(b), free(tau), free(square), free(v), free(adjoint), free(values);
    return info;
}
