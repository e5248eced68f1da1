#include "learn.h"

// What cudaGetLastError returns after the launch, in place of success: a launch that is really refused would be a
// finding. Asking for the error also forgets it, here as in CUDA: a second call returns success.
static cudaError_t after_launch = cudaSuccess;

static cudaError_t last_error(void)
{
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        return error;
    error = after_launch;
    after_launch = cudaSuccess;
    return error;
}

#define cudaGetLastError last_error
#include "05.7-check-the-error.cu"
#undef cudaGetLastError

static bool is_inside; // of make_particles

// CUDA_CHECK, say, ends the program where the function should return.
static void tell_end(void)
{
    if (is_inside)
        learn_say("says",
                  "make_particles ended the program. In this case it is meant to fail: return the error to the caller. "
                  "CUDA_CHECK does not return, it ends the program.",
                  true);
}

static cudaError_t call(float **positions, float **speeds, size_t count)
{
    is_inside = true;
    cudaError_t error = make_particles(positions, speeds, count);
    is_inside = false;
    return error;
}

static void judge_success(size_t count)
{
    float *positions, *speeds;
    learn_case("%zu particle%s", count, count == 1 ? "" : "s");
    cudaError_t error = make_particles(&positions, &speeds, count);
    learn_require(error == cudaSuccess, "make_particles returned \"%s\", expected success", cudaGetErrorString(error));
    std::vector<float> expected_positions(count), expected_speeds(count, 1.0f);
    for (size_t i = 0; i < count; i++)
        expected_positions[i] = 2.0f * i;
    learn_expect("positions", positions, expected_positions);
    learn_expect("speeds", speeds, expected_speeds);
    cudaFree(positions);
    cudaFree(speeds);
}

static void judge_failure(size_t count, cudaError_t expected)
{
    float *positions, *speeds;
    size_t free_bytes = 0, free_after = 0, total_bytes = 0;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    cudaError_t error = call(&positions, &speeds, count);
    learn_require(error == expected, "make_particles returned \"%s\", expected \"%s\"%s", cudaGetErrorString(error),
                  cudaGetErrorString(expected),
                  expected == cudaErrorInvalidConfiguration
                      ? ". A launch returns nothing: cudaGetLastError is how you learn that it was refused."
                      : "");
    learn_require(positions == NULL, "positions is not NULL after a failure");
    learn_require(speeds == NULL, "speeds is not NULL after a failure");
    cudaGetLastError(); // forgets the failure that the case provoked
    cudaMemGetInfo(&free_after, &total_bytes);
    learn_require(free_after >= free_bytes, "%zu bytes of device memory were not freed after a failure",
                  free_bytes - free_after);
}

int main(void)
{
    size_t free_bytes = 0, total_bytes = 0;
    atexit(tell_end);
    judge_success(700);
    judge_success(1);
    learn_case("more particles than fit on any GPU");
    judge_failure((size_t)1 << 37, cudaErrorMemoryAllocation);
    learn_case("so many particles that only the first array fits");
    cudaMemGetInfo(&free_bytes, &total_bytes);
    judge_failure(free_bytes / 5 * 3 / sizeof(float), cudaErrorMemoryAllocation);
    learn_case("memory for all, but the launch is refused");
    after_launch = cudaErrorInvalidConfiguration;
    judge_failure(1 << 12, cudaErrorInvalidConfiguration);
    after_launch = cudaSuccess;
    judge_success(128);
    return learn_passed();
}
