// The functions of one type of dense.c: included once for each, with T, R, F, OR, SY, their names, REAL_TYPE and
// IS_COMPLEX, which it takes away again. No guard for that reason.

// NOLINTBEGIN(readability-non-const-parameter): results are written later, through the work they are put into
cusolverStatus_t F(getrf_bufferSize)(cusolverDnHandle_t handle, int m, int n, T *A, int lda, int *lwork)
{
    (void)A, (void)lda;
    return size_of(handle, GETRF, m, n, lwork);
}

cusolverStatus_t F(getrf)(cusolverDnHandle_t handle, int m, int n, T *A, int lda, T *work, int *devIpiv, int *devInfo)
{
    solver_work w = WORK(LETTER "getrf", GETRF, .m = m, .n = n, .lda = lda, .a = A, .pivots = devIpiv, .info = devInfo,
                         .work = work, .work_elements = m > 0 && n > 0 ? workspace(GETRF, m, n) : 0);
    return queue(handle, w, m, 0);
}

cusolverStatus_t F(getrs)(cusolverDnHandle_t handle, cublasOperation_t trans, int n, int nrhs, const T *A, int lda,
                          const int *devIpiv, T *B, int ldb, int *devInfo)
{
    solver_work w = WORK(LETTER "getrs", GETRS, .transposed = trans != CUBLAS_OP_N, .conjugated = trans == CUBLAS_OP_C,
                         .m = n, .n = n, .k = nrhs, .lda = lda, .ldb = ldb, .a = (void *)(uintptr_t)A, .b = B,
                         .pivots = (void *)(uintptr_t)devIpiv, .info = devInfo);
    return queue(handle, w, n, n);
}

cusolverStatus_t F(potrf_bufferSize)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A, int lda, int *lwork)
{
    (void)uplo, (void)A, (void)lda;
    return size_of(handle, POTRF, n, n, lwork);
}

cusolverStatus_t F(potrf)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A, int lda, T *work, int lwork,
                          int *devInfo)
{
    solver_work w = WORK(LETTER "potrf", POTRF, .upper = uplo == CUBLAS_FILL_MODE_UPPER, .m = n, .n = n, .lda = lda,
                         .a = A, .info = devInfo, .work = work, .work_elements = ELEMENTS(lwork));
    return queue(handle, w, n, 0);
}

cusolverStatus_t F(potrs)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs, const T *A, int lda, T *B,
                          int ldb, int *devInfo)
{
    solver_work w = WORK(LETTER "potrs", POTRS, .upper = uplo == CUBLAS_FILL_MODE_UPPER, .m = n, .n = n, .k = nrhs,
                         .lda = lda, .ldb = ldb, .a = (void *)(uintptr_t)A, .b = B, .info = devInfo);
    return queue(handle, w, n, n);
}

cusolverStatus_t F(geqrf_bufferSize)(cusolverDnHandle_t handle, int m, int n, T *A, int lda, int *lwork)
{
    (void)A, (void)lda;
    return size_of(handle, GEQRF, m, n, lwork);
}

cusolverStatus_t F(geqrf)(cusolverDnHandle_t handle, int m, int n, T *A, int lda, T *tau, T *work, int lwork,
                          int *devInfo)
{
    solver_work w = WORK(LETTER "geqrf", GEQRF, .m = m, .n = n, .lda = lda, .a = A, .tau = tau, .info = devInfo,
                         .work = work, .work_elements = ELEMENTS(lwork));
    return queue(handle, w, m, 0);
}

cusolverStatus_t OR(gqr_bufferSize)(cusolverDnHandle_t handle, int m, int n, int k, const T *A, int lda, const T *tau,
                                    int *lwork)
{
    (void)k, (void)A, (void)lda, (void)tau;
    return size_of(handle, ORGQR, m, n, lwork);
}

cusolverStatus_t OR(gqr)(cusolverDnHandle_t handle, int m, int n, int k, T *A, int lda, const T *tau, T *work,
                         int lwork, int *devInfo)
{
    solver_work w =
        WORK(LETTER OR_NAME "gqr", ORGQR, .m = m, .n = n, .k = k, .lda = lda, .a = A, .tau = (void *)(uintptr_t)tau,
             .info = devInfo, .work = work, .work_elements = ELEMENTS(lwork));
    return queue(handle, w, m, 0);
}

cusolverStatus_t OR(mqr_bufferSize)(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m,
                                    int n, int k, const T *A, int lda, const T *tau, const T *C, int ldc, int *lwork)
{
    (void)side, (void)trans, (void)k, (void)A, (void)lda, (void)tau, (void)C, (void)ldc;
    return size_of(handle, ORMQR, m, n, lwork);
}

cusolverStatus_t OR(mqr)(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m, int n, int k,
                         const T *A, int lda, const T *tau, T *C, int ldc, T *work, int lwork, int *devInfo)
{
    solver_work w =
        WORK(LETTER OR_NAME "mqr", ORMQR, .right = side == CUBLAS_SIDE_RIGHT, .transposed = trans != CUBLAS_OP_N,
             .m = m, .n = n, .k = k, .lda = lda, .ldb = ldc, .a = (void *)(uintptr_t)A, .b = C,
             .tau = (void *)(uintptr_t)tau, .info = devInfo, .work = work, .work_elements = ELEMENTS(lwork));
    return queue(handle, w, side == CUBLAS_SIDE_RIGHT ? n : m, m);
}

cusolverStatus_t SY(evd_bufferSize)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,
                                    const T *A, int lda, const R *W, int *lwork)
{
    (void)jobz, (void)uplo, (void)A, (void)lda, (void)W;
    return size_of(handle, SYEVD, n, n, lwork);
}

cusolverStatus_t SY(evd)(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T *A, int lda,
                         R *W, T *work, int lwork, int *devInfo)
{
    solver_work w = WORK(LETTER SY_NAME "evd", SYEVD, .upper = uplo == CUBLAS_FILL_MODE_UPPER,
                         .vectors = jobz == CUSOLVER_EIG_MODE_VECTOR, .m = n, .n = n, .lda = lda, .a = A, .tau = W,
                         .info = devInfo, .work = work, .work_elements = ELEMENTS(lwork));
    return queue(handle, w, n, 0);
}

cusolverStatus_t F(gesvd_bufferSize)(cusolverDnHandle_t handle, int m, int n, int *lwork)
{
    return size_of(handle, GESVD, m, n, lwork);
}

cusolverStatus_t F(gesvd)(cusolverDnHandle_t handle, signed char jobu, signed char jobvt, int m, int n, T *A, int lda,
                          R *S, T *U, int ldu, T *VT, int ldvt, T *work, int lwork, R *rwork, int *devInfo)
{
    (void)rwork;
    solver_work w =
        WORK(LETTER "gesvd", GESVD, .jobu = jobu, .jobvt = jobvt, .m = m, .n = n, .lda = lda, .ldu = ldu, .ldvt = ldvt,
             .a = A, .u = U, .vt = VT, .tau = S, .info = devInfo, .work = work, .work_elements = ELEMENTS(lwork));
    return queue(handle, w, m, 0);
}
// NOLINTEND(readability-non-const-parameter)

#undef T
#undef R
#undef F
#undef LETTER
#undef OR
#undef OR_NAME
#undef SY
#undef SY_NAME
#undef REAL_TYPE
#undef IS_COMPLEX
