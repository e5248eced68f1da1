// Jobs: each brings its numbers to the host, where a host function adds them up.
//
// The stream calls add_up after the copy. It hands over the address of the caller's job, which outlives this function;
// a local copy would be gone by the time it runs.

struct job {
    const float *device;
    float *pinned; // room for n floats in pinned host memory
    int n;
    float sum; // the result
};

static void add_up(void *data)
{
    struct job *job = (struct job *)data;

    job->sum = 0;
    for (int i = 0; i < job->n; i++)
        job->sum += job->pinned[i];
}

void run_jobs(struct job *jobs, int count, cudaStream_t stream)
{
    for (int i = 0; i < count; i++) {
        struct job *job = &jobs[i];

        cudaMemcpyAsync(job->pinned, job->device, job->n * sizeof(float), cudaMemcpyDeviceToHost, stream);
        cudaLaunchHostFunc(stream, add_up, job);
    }
}
