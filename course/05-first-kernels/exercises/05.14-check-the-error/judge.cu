#include "learn.h"

#include "05.14-check-the-error.cu"

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

static void judge_failure(size_t count)
{
    float *positions, *speeds;
    cudaError_t error = make_particles(&positions, &speeds, count);
    learn_require(error == cudaErrorMemoryAllocation, "make_particles returned \"%s\", expected \"%s\"",
                  cudaGetErrorString(error), cudaGetErrorString(cudaErrorMemoryAllocation));
    learn_require(positions == NULL, "positions is not NULL after a failure");
    learn_require(speeds == NULL, "speeds is not NULL after a failure");
    cudaGetLastError(); // forgets the failure that the case provoked
}

int main(void)
{
    size_t free_bytes = 0, total_bytes = 0, free_after = 0;
    judge_success(700);
    judge_success(1);
    learn_case("more particles than fit on any GPU");
    judge_failure((size_t)1 << 37);
    learn_case("so many particles that only the first array fits");
    cudaMemGetInfo(&free_bytes, &total_bytes);
    judge_failure(free_bytes / 5 * 3 / sizeof(float));
    cudaMemGetInfo(&free_after, &total_bytes);
    learn_require(free_after >= free_bytes, "%zu bytes of device memory were not freed after a failure",
                  free_bytes - free_after);
    judge_success(128);
    return learn_passed();
}
