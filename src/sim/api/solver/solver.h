// Inside cuSOLVER: one piece of work for every function, and the factorisations that run it.
#pragma once

#include "api/blas/blas.h"

typedef enum solver_operation { GETRF, GETRS, POTRF, POTRS, GEQRF, GELS, ORGQR, ORMQR, SYEVD, GESVD } solver_operation;

// Every argument that one of the functions takes; columns of B are right-hand sides.
typedef struct solver_work {
    sim_blas_call call;
    solver_operation operation;
    cudaDataType type; // of a real number
    bool is_complex;
    bool upper, transposed, conjugated, right, vectors;
    bool wide_pivots;        // 64 bits, as in the X functions
    signed char jobu, jobvt; // of GESVD
    int m, n, k;             // k: also the number of right-hand sides
    int lda, ldb, ldu, ldvt; // b is also the C of ORMQR
    void *a, *b, *u, *vt;
    void *tau; // also eigenvalues and singular values
    void *pivots, *info, *work;
    size_t work_elements;
} solver_work;

// factor.c: reads the matrices, computes in double, stores the results. Returns devInfo.
int sim_solver_run(const solver_work *work);
// dense.c: a matrix of the work's type.
sim_blas_span sim_solver_matrix(const solver_work *work, const char *name, const void *data, int rows, int columns,
                                int stride);
// dense.c: that the pivots are there and are rows of A; else a finding, and false.
bool sim_solver_pivots(const solver_work *work);
