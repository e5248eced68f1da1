// libheddle-cupti.so: the CUDA driver loads it into any program whose environment names it in CUDA_INJECTION64_PATH. It
// writes every kernel, copy and set of the GPU with its times to the file that HEDDLE_TRACE_SPANS names, one line each;
// bench/timeline.c reads them. It is alone in a process that is not heddle's: it prints nothing and fails silently.

#include <cupti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFER_BYTES = 4 << 20, BUFFER_ALIGNMENT = 8, FLUSH_MILLISECONDS = 500 };

static FILE *spans;
static size_t dropped;
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

// Records grow from version to version of CUPTI, and only at their end: these are the oldest that CUDA 12 and 13 know.
typedef CUpti_ActivityKernel9 kernel_record;
typedef CUpti_ActivityMemcpy5 copy_record;
typedef CUpti_ActivityMemset4 set_record;

static char letter_of(const copy_record *copy)
{
    switch (copy->copyKind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA: return 'I';
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH: return 'O';
    default: return 'D';
    }
}

static void write_record(const CUpti_Activity *record)
{
    const kernel_record *kernel = (const kernel_record *)record;
    const copy_record *copy = (const copy_record *)record;
    const set_record *set = (const set_record *)record;
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        fprintf(spans, "K %llu %llu %u 0 %s\n", (unsigned long long)kernel->start, (unsigned long long)kernel->end,
                kernel->streamId, kernel->name);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        fprintf(spans, "%c %llu %llu %u %llu\n", letter_of(copy), (unsigned long long)copy->start,
                (unsigned long long)copy->end, copy->streamId, (unsigned long long)copy->bytes);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        fprintf(spans, "S %llu %llu %u %llu\n", (unsigned long long)set->start, (unsigned long long)set->end,
                set->streamId, (unsigned long long)set->bytes);
        break;
    default: break;
    }
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
    *buffer = aligned_alloc(BUFFER_ALIGNMENT, BUFFER_BYTES);
    *size = *buffer ? BUFFER_BYTES : 0;
    *most_records = 0; // as many as fit
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)size;
    CUpti_Activity *record = NULL;
    size_t lost = 0;
    pthread_mutex_lock(&writing);
    while (spans && valid && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        write_record(record);
    if (cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS)
        dropped += lost;
    pthread_mutex_unlock(&writing);
    free(buffer);
}

static void finish(void)
{
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    pthread_mutex_lock(&writing);
    if (dropped)
        fprintf(spans, "X %zu\n", dropped);
    fclose(spans);
    spans = NULL;
    pthread_mutex_unlock(&writing);
}

// What the driver calls, by this name, when the program first calls it. 1: all well.
__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
    const char *path = getenv("HEDDLE_TRACE_SPANS");
    spans = path ? fopen(path, "a") : NULL;
    if (!spans)
        return 0;
    if (cuptiActivityRegisterCallbacks(give_buffer, take_buffer) != CUPTI_SUCCESS ||
        cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS ||
        cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY) != CUPTI_SUCCESS ||
        cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET) != CUPTI_SUCCESS) {
        fclose(spans);
        spans = NULL;
        return 0;
    }
    cuptiActivityFlushPeriod(FLUSH_MILLISECONDS); // a program that is killed has its lines but the last
    atexit(finish);
    return 1;
}
