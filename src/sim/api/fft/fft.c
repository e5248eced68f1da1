// cuFFT: a transform of mixed radix in double. Each call loads its batch into plain complex numbers, transforms along
// one dimension after the other, and stores; simple, and right for every size, prime ones included.
#include "cufft.h"

#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/blas/blas.h"

enum { MOST_PLANS = 1024, MOST_DIMENSIONS = 3 };

typedef struct layout {
    int embed[MOST_DIMENSIONS]; // allocated size of each dimension
    int stride, distance;       // elements between neighbours, and between batches
} layout;

typedef struct fft_plan {
    bool used, made, embedded;
    int rank, n[MOST_DIMENSIONS], batch;
    cufftType type;
    layout in, out; // where embedded; else they follow from the call
    cudaStream_t stream;
} fft_plan;

static fft_plan plans[MOST_PLANS]; // handle - 1
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// --- the transform --------------------------------------------------------------------------------------------------

typedef struct roots {
    int n, sign;
    double complex *power; // exp(sign 2 pi i j / n)
} roots;

static int smallest_factor(int n)
{
    for (int p = 2; p * p <= n; p++)
        if (n % p == 0)
            return p;
    return n;
}

// out[0 .. n) = transform of in[0], in[stride], ... by splitting n into its smallest prime and the rest.
static void line(const roots *w, const double complex *in, int stride, double complex *out, int n,
                 double complex *spare)
{
    if (n == 1) {
        out[0] = in[0];
        return;
    }
    int p = smallest_factor(n), m = n / p, step = w->n / n;
    for (int r = 0; r < p; r++)
        line(w, in + (size_t)r * (size_t)stride, stride * p, out + r * m, m, spare);
    for (int k = 0; k < m; k++) {
        for (int r = 0; r < p; r++)
            spare[r] = out[r * m + k] * w->power[(size_t)r * (size_t)k * (size_t)step % (size_t)w->n];
        for (int q = 0; q < p; q++) {
            double complex sum = 0;
            for (int r = 0; r < p; r++)
                sum += spare[r] * w->power[(size_t)r * (size_t)q * (size_t)m * (size_t)step % (size_t)w->n];
            out[q * m + k] = sum;
        }
    }
}

// Along one dimension of a dense array: `before` blocks of n lines of `after` elements.
static bool dimension(double complex *data, size_t before, int n, size_t after, int sign)
{
    roots w = {n, sign, malloc((size_t)n * sizeof *w.power)};
    double complex *result = malloc((size_t)n * sizeof *result), *spare = malloc((size_t)n * sizeof *spare);
    bool room = w.power && result && spare;
    for (int j = 0; room && j < n; j++)
        w.power[j] = cexp(sign * 2 * 3.14159265358979323846 * I * j / n);
    for (size_t b = 0; room && b < before; b++)
        for (size_t a = 0; a < after; a++) {
            double complex *first = data + b * (size_t)n * after + a;
            line(&w, first, (int)after, result, n, spare);
            for (int j = 0; j < n; j++)
                first[(size_t)j * after] = result[j];
        }
    free(w.power);
    free(result);
    free(spare);
    return room;
}

// --- one call -------------------------------------------------------------------------------------------------------

typedef struct fft_work {
    sim_blas_call call;
    int rank, n[MOST_DIMENSIONS], batch, sign;
    bool wide, real_in, real_out;
    layout in, out;
    const void *from;
    void *to;
} fft_work;

static size_t place(const layout *l, const int index[MOST_DIMENSIONS], int rank, int batch)
{
    size_t at = 0;
    for (int d = 0; d < rank; d++)
        at = at * (size_t)(d == 0 ? 1 : l->embed[d]) + (size_t)index[d];
    return at * (size_t)l->stride + (size_t)batch * (size_t)l->distance;
}

static void index_of(size_t element, const int n[], int rank, int index[MOST_DIMENSIONS])
{
    for (int d = rank - 1; d >= 0; d--) {
        index[d] = (int)(element % (size_t)n[d]);
        element /= (size_t)n[d];
    }
}

static double complex load(const fft_work *w, size_t at)
{
    cudaDataType type = w->wide ? CUDA_R_64F : CUDA_R_32F;
    if (w->real_in)
        return sim_blas_load(type, w->from, at);
    return sim_blas_load(type, w->from, 2 * at) + I * sim_blas_load(type, w->from, 2 * at + 1);
}

static void gather(const fft_work *w, double complex *data, size_t count, int batch)
{
    int index[MOST_DIMENSIONS], half = w->n[w->rank - 1] / 2 + 1;
    for (size_t i = 0; i < count; i++) {
        index_of(i, w->n, w->rank, index);
        bool mirrored = w->real_out && index[w->rank - 1] >= half; // the half that is not stored
        for (int d = 0; mirrored && d < w->rank; d++)
            index[d] = (w->n[d] - index[d]) % w->n[d];
        double complex value = load(w, place(&w->in, index, w->rank, batch));
        data[i] = mirrored ? conj(value) : value;
    }
}

static void scatter(const fft_work *w, const double complex *data, size_t count, int batch)
{
    cudaDataType type = w->wide ? CUDA_R_64F : CUDA_R_32F;
    int index[MOST_DIMENSIONS];
    for (size_t i = 0; i < count; i++) {
        index_of(i, w->n, w->rank, index);
        if (w->real_in && index[w->rank - 1] > w->n[w->rank - 1] / 2)
            continue;
        size_t at = place(&w->out, index, w->rank, batch);
        sim_blas_store(type, w->to, w->real_out ? at : 2 * at, creal(data[i]));
        if (!w->real_out)
            sim_blas_store(type, w->to, 2 * at + 1, cimag(data[i]));
    }
}

// From the first element to the last that is touched. Padding inside is not looked at: only dense spans are read whole.
static sim_blas_span span_of(const fft_work *w, const char *name, const void *data, const layout *l, bool real,
                             bool halved)
{
    int last[MOST_DIMENSIONS];
    for (int d = 0; d < w->rank; d++)
        last[d] = w->n[d] - 1;
    if (halved)
        last[w->rank - 1] = w->n[w->rank - 1] / 2;
    size_t count = place(l, last, w->rank, w->batch - 1) + 1;
    return (sim_blas_span){name, data, w->wide ? CUDA_R_64F : CUDA_R_32F, real ? count : 2 * count, 1, 2 * count};
}

static bool dense(const fft_work *w, const layout *l, bool halved)
{
    int last = w->rank - 1, size = halved ? w->n[last] / 2 + 1 : w->n[last];
    return l->stride == 1 && (w->rank == 1 ? w->batch == 1 || l->distance == size : l->embed[last] == size);
}

static void fft_run(const void *work)
{
    const fft_work *w = work;
    size_t count = 1;
    for (int d = 0; d < w->rank; d++)
        count *= (size_t)w->n[d];
    sim_blas_span in = span_of(w, "the input", w->from, &w->in, w->real_in, w->real_out);
    sim_blas_span out = span_of(w, "the output", w->to, &w->out, w->real_out, w->real_in);
    if (dense(w, &w->in, w->real_out)) {
        sim_blas_reads(w->call, &in);
    } else { // what lies in the gaps may be anything
        sim_blas_writes(w->call, &in);
        sim_blas_used(&in, false);
    }
    sim_blas_writes(w->call, &out);
    double complex *data = malloc(count * sizeof *data);
    for (int batch = 0; data && batch < w->batch; batch++) {
        gather(w, data, count, batch);
        for (int d = 0; d < w->rank; d++) {
            size_t before = 1, after = 1;
            for (int e = 0; e < w->rank; e++)
                *(e < d ? &before : &after) *= e == d ? 1 : (size_t)w->n[e];
            dimension(data, before, w->n[d], after, w->sign);
        }
        scatter(w, data, count, batch);
    }
    free(data);
    sim_blas_written(&out);
}

// Without embedding data are dense; real rows that share memory with complex ones are padded to them.
static layout natural(const fft_plan *plan, bool real, bool halved, bool in_place)
{
    layout l = {.stride = 1};
    int last = plan->rank - 1, half = plan->n[last] / 2 + 1;
    for (int d = 0; d < plan->rank; d++)
        l.embed[d] = plan->n[d];
    if (halved)
        l.embed[last] = half;
    else if (real && in_place)
        l.embed[last] = 2 * half;
    l.distance = 1;
    for (int d = 0; d < plan->rank; d++)
        l.distance *= l.embed[d];
    return l;
}

static cufftResult execute(cufftHandle handle, sim_blas_call call, cufftType type, const void *from, void *to, int sign)
{
    if (handle < 1 || handle > MOST_PLANS || !plans[handle - 1].made)
        return CUFFT_INVALID_PLAN;
    const fft_plan *plan = &plans[handle - 1];
    if (plan->type != type)
        return CUFFT_INVALID_TYPE;
    if (!from || !to)
        return CUFFT_INVALID_VALUE;
    bool real_in = type == CUFFT_R2C || type == CUFFT_D2Z, real_out = type == CUFFT_C2R || type == CUFFT_Z2D;
    fft_work w = {.call = call,
                  .rank = plan->rank,
                  .batch = plan->batch,
                  .sign = sign,
                  .wide = type == CUFFT_D2Z || type == CUFFT_Z2D || type == CUFFT_Z2Z,
                  .real_in = real_in,
                  .real_out = real_out,
                  .in = plan->embedded ? plan->in : natural(plan, real_in, real_out, from == to),
                  .out = plan->embedded ? plan->out : natural(plan, real_out, real_in, from == to),
                  .from = from,
                  .to = to};
    memcpy(w.n, plan->n, sizeof w.n);
    return sim_library_queue(plan->stream, call, fft_run, &w, sizeof w, false) ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex *in, cufftComplex *out, int direction)
{
    return execute(plan, SIM_BLAS_CALL("cufftExecC2C"), CUFFT_C2C, in, out, direction);
}

cufftResult cufftExecR2C(cufftHandle plan, cufftReal *in, cufftComplex *out)
{
    return execute(plan, SIM_BLAS_CALL("cufftExecR2C"), CUFFT_R2C, in, out, CUFFT_FORWARD);
}

cufftResult cufftExecC2R(cufftHandle plan, cufftComplex *in, cufftReal *out)
{
    return execute(plan, SIM_BLAS_CALL("cufftExecC2R"), CUFFT_C2R, in, out, CUFFT_INVERSE);
}

cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleComplex *out, int direction)
{
    return execute(plan, SIM_BLAS_CALL("cufftExecZ2Z"), CUFFT_Z2Z, in, out, direction);
}

cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal *in, cufftDoubleComplex *out)
{
    return execute(plan, SIM_BLAS_CALL("cufftExecD2Z"), CUFFT_D2Z, in, out, CUFFT_FORWARD);
}

cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleReal *out)
{
    return execute(plan, SIM_BLAS_CALL("cufftExecZ2D"), CUFFT_Z2D, in, out, CUFFT_INVERSE);
}

// --- plans ----------------------------------------------------------------------------------------------------------

cufftResult cufftCreate(cufftHandle *plan)
{
    cufftResult result = CUFFT_ALLOC_FAILED;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_PLANS && result != CUFFT_SUCCESS; i++)
        if (!plans[i].used) {
            plans[i] = (fft_plan){.used = true};
            *plan = i + 1;
            result = CUFFT_SUCCESS;
        }
    pthread_mutex_unlock(&lock);
    return result;
}

cufftResult cufftDestroy(cufftHandle plan)
{
    if (plan < 1 || plan > MOST_PLANS || !plans[plan - 1].used)
        return CUFFT_INVALID_PLAN;
    plans[plan - 1] = (fft_plan){.used = false};
    return CUFFT_SUCCESS;
}

static cufftResult make_plan(cufftHandle handle, int rank, const int *n, const int *inembed, int istride, int idist,
                             const int *onembed, int ostride, int odist, cufftType type, int batch, size_t *work_bytes)
{
    if (handle < 1 || handle > MOST_PLANS || !plans[handle - 1].used)
        return CUFFT_INVALID_PLAN;
    if (rank < 1 || rank > MOST_DIMENSIONS || batch < 1)
        return CUFFT_INVALID_VALUE;
    fft_plan *plan = &plans[handle - 1];
    plan->rank = rank;
    plan->batch = batch;
    plan->type = type;
    plan->embedded = inembed && onembed;
    for (int d = 0; d < rank; d++) {
        if (n[d] < 1)
            return CUFFT_INVALID_SIZE;
        plan->n[d] = n[d];
        plan->in.embed[d] = inembed ? inembed[d] : n[d];
        plan->out.embed[d] = onembed ? onembed[d] : n[d];
    }
    plan->in.stride = istride;
    plan->in.distance = idist;
    plan->out.stride = ostride;
    plan->out.distance = odist;
    plan->made = true;
    if (work_bytes)
        *work_bytes = 0;
    return CUFFT_SUCCESS;
}

cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed,
                              int ostride, int odist, cufftType type, int batch, size_t *work_bytes)
{
    return make_plan(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, work_bytes);
}

cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t *work_bytes)
{
    return cufftMakePlanMany(plan, 1, &nx, NULL, 1, 0, NULL, 1, 0, type, batch, work_bytes);
}

cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t *work_bytes)
{
    int n[] = {nx, ny};
    return cufftMakePlanMany(plan, 2, n, NULL, 1, 0, NULL, 1, 0, type, 1, work_bytes);
}

cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t *work_bytes)
{
    int n[] = {nx, ny, nz};
    return cufftMakePlanMany(plan, 3, n, NULL, 1, 0, NULL, 1, 0, type, 1, work_bytes);
}

cufftResult cufftPlanMany(cufftHandle *plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed,
                          int ostride, int odist, cufftType type, int batch)
{
    cufftResult result = cufftCreate(plan);
    if (result == CUFFT_SUCCESS)
        result = cufftMakePlanMany(*plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, NULL);
    return result;
}

cufftResult cufftPlan1d(cufftHandle *plan, int nx, cufftType type, int batch)
{
    return cufftPlanMany(plan, 1, &nx, NULL, 1, 0, NULL, 1, 0, type, batch);
}

cufftResult cufftPlan2d(cufftHandle *plan, int nx, int ny, cufftType type)
{
    int n[] = {nx, ny};
    return cufftPlanMany(plan, 2, n, NULL, 1, 0, NULL, 1, 0, type, 1);
}

cufftResult cufftPlan3d(cufftHandle *plan, int nx, int ny, int nz, cufftType type)
{
    int n[] = {nx, ny, nz};
    return cufftPlanMany(plan, 3, n, NULL, 1, 0, NULL, 1, 0, type, 1);
}

cufftResult cufftGetSize(cufftHandle plan, size_t *work_bytes)
{
    *work_bytes = 0;
    return plan < 1 || plan > MOST_PLANS || !plans[plan - 1].made ? CUFFT_INVALID_PLAN : CUFFT_SUCCESS;
}

cufftResult cufftSetAutoAllocation(cufftHandle plan, int automatic)
{
    (void)automatic;
    return plan < 1 || plan > MOST_PLANS ? CUFFT_INVALID_PLAN : CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle plan, void *area)
{
    (void)area;
    return plan < 1 || plan > MOST_PLANS ? CUFFT_INVALID_PLAN : CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream)
{
    if (plan < 1 || plan > MOST_PLANS || !plans[plan - 1].used)
        return CUFFT_INVALID_PLAN;
    plans[plan - 1].stream = stream;
    return CUFFT_SUCCESS;
}

cufftResult cufftGetVersion(int *version)
{
    *version = CUFFT_VERSION;
    return CUFFT_SUCCESS;
}
