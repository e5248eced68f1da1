// What a program uses that is approximate or not simulated, and where its results go.

#include "folder.h"
#include "sample.h"

#include <string.h>

#include "check/fidelity.h"

static heddle_check_result *uses_of(const char *text)
{
    char path[512];
    const char *const sources[] = {path, NULL};
    snprintf(path, sizeof path, "%s/uses.cu", folder);
    scratch_write(folder, "uses.cu", text, strlen(text));
    heddle_check_result *result = NULL;
    assert_int_equal(heddle_check_result_create(&result), HEDDLE_OK);
    assert_int_equal(heddle_check_fidelity_find(result, sources), HEDDLE_OK);
    return result;
}

static void uses(const char *text, const char *name, const char *why, int line, const char *decides, int decides_line)
{
    heddle_check_result *result = uses_of(text);
    assert_int_equal(result->use_count, 1);
    const heddle_check_use *use = &result->uses[0];
    assert_string_equal(use->name, name);
    assert_string_equal(heddle_check_fidelity_name(use->fidelity), why);
    assert_int_equal(use->line, line);
    assert_int_equal(use->decides_line, decides_line);
    if (decides)
        assert_string_equal(use->decides, decides);
    heddle_check_result_free(result);
}

static void test_what_is_used_is_listed_once_with_its_first_line(void **state)
{
    (void)state;
    uses("__global__ void k(float *x) {\n    x[0] = __expf(x[1]);\n    x[2] = __expf(x[3]);\n}\n", "__expf",
         "fast-math", 2, NULL, 0);
    uses("__global__ void k(float *x) { *x = sinf(*x); }\nvoid h() { a = cosf(b); }\n", "sinf", "math", 1, NULL, 0);
    uses("__global__ void k() { wmma::mma_sync(c, a, b, c); }\n", "mma_sync", "tensor-core", 1, NULL, 0);
    uses("__device__ void f() { asm(\"mov.u32 %0, %%smid;\" : \"=r\"(id)); }\n", "%smid", "placement", 1, NULL, 0);
    uses("int main() { cublasSgemm(h); }\n", "cuBLAS", "library", 1, NULL, 0);
    uses("__global__ void k() { x = curand_normal(&s); }\n", "cuRAND", "library", 1, NULL, 0);
    uses("int main() { cudaEventElapsedTime(&ms, a, b); clock(); }\n", "cudaEventElapsedTime", "timing", 1, NULL, 0);
    heddle_check_result *result = uses_of("struct s { float exp(float); }; __device__ float f(s a) { return a.exp(1) + "
                                          "sqrtf(2) + __fmul_rn(a, b) + __float2int_rn(c); }\n");
    assert_int_equal(result->use_count, 0);
    assert_int_equal(result->note_count, 0);
    heddle_check_result_free(result);
}

static void test_a_result_is_followed_to_what_it_decides(void **state)
{
    (void)state;
#define KERNEL(body) "__global__ void k(float *x, int n) {\n" body "}\n"
    uses(KERNEL("    if (__expf(x[0]) > 1)\n        x[0] = 0;\n"), "__expf", "fast-math", 2, "branch", 2);
    uses(KERNEL("    float e = expf(x[0]);\n    float f = e * 2;\n    x[(int)f] = 1;\n"), "expf", "math", 2, "index",
         4);
    uses(KERNEL("    float e;\n    e += logf(x[0]);\n    x[1] = e < 3 ? 1 : 2;\n"), "logf", "math", 3, "comparison", 4);
    uses(KERNEL("    for (int i = 0; i < n; i++)\n        x[i] = expf(x[i]);\n    if (n > 2)\n        x[n] = 1;\n"),
         "expf", "math", 3, NULL, 0);
#undef KERNEL
}

static void test_a_note_says_what_a_person_should_know(void **state)
{
    (void)state;
    heddle_check_result *result = uses_of("__global__ void k(float *x, long long *t) {\n    t[0] = clock64();\n"
                                          "    x[1] = expf(x[0]);\n    if (__sinf(x[0]) < 0)\n        x[2] = 1;\n}\n");
    assert_int_equal(result->note_count, 2);
    assert_string_equal(result->notes[0], "approximate: __sinf (line 4), which may decide the branch of line 4; a GPU "
                                          "gives other last bits");
    assert_string_equal(result->notes[1], "not simulated: clock64 (line 2)");
    heddle_check_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_used_is_listed_once_with_its_first_line),
        cmocka_unit_test(test_a_result_is_followed_to_what_it_decides),
        cmocka_unit_test(test_a_note_says_what_a_person_should_know),
    };
    return cmocka_run_group_tests(tests, create_folder, remove_folder);
}
