// Kernels found in the sources of extensions, in the styles of tests/check/extensions, and what is left out of them.

#include "files.h"
#include "sample.h"

#include <string.h>

#include "check/extension.h"

static const char styles_folder[] = HEDDLE_SOURCE_DIR "/tests/check/extensions";

static void read_file(const char *name, heddle_check_globals *globals)
{
    char path[1024], include[1024];
    snprintf(path, sizeof path, "%s/%s", styles_folder, name);
    snprintf(include, sizeof include, "%s/include", styles_folder);
    const char *const paths[] = {path, NULL}, *const folders[] = {include, NULL};
    assert_ok(heddle_check_globals_read(paths, folders, globals));
}

static void test_kernels_of_every_style_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *file, *kernels, *left_out;
    } styles[] = {
        {"old_api.cu", "old_gate<typename scalar_t>(scalar_t *out, const scalar_t *gates, const size_t size)",
         "old_forward (old_api.cu:21)"},
        {"own_header.cu", "utils::cast_kernel<typename T, typename U=T>(const T *in, U *out, int64_t n)",
         "check_same_device (kernel_utils.cuh:10)"},
        {"macros.cu", "macro_relu_kernel<typename T>(const T *__restrict__ x, T *__restrict__ y, int n)",
         "LAUNCH (macros.cu:24), LAUNCH (macros.cu:25)"},
        {"autograd.cu", "transpose_by_shape(const float *in, float *out, int rows, int cols)",
         "transpose_apply (autograd.cu:47), transpose_all (autograd.cu:52)"},
        {"functor.cu", "ops::detail::scalar_map<typename scalar_t, typename Op>(const scalar_t *x, scalar_t *y, int n)",
         ""},
        {"overloads.cu", "second::reduce(const int64_t *x, int64_t *out)", ""},
        {"engine.cu", "const float epsilon, const int num_tokens, const int hidden_size)", "rms_norm (engine.cu:"},
        {"parameters.cu", "scaled_copy_kernel(const Params params)",
         "set_params (parameters.cu:26), scaled_copy (parameters.cu:31)"},
        {"shared_memory.cu",
         "apex_style::block_sum<typename scalar_t, typename accscalar_t=at::acc_type<scalar_t, true>>(", ""},
        {"native.cu", "at::native::bucket_kernel<typename scalar_t>(",
         "bucketize_cuda (native.cu:49), REGISTER_DISPATCH (native.cu:61)"},
        {"cooperative.cu",
         "cooperative_sum<bool kScaled>(float const *const __restrict__ x, float *y, uint32_t const n)",
         "describe (cooperative.cu:35), PYBIND11_MODULE (cooperative.cu:40)"},
        {"images.cu", "const PackedTensorAccessor64<T, 4> input", "upsample (images.cu:"},
        {"dropout.cu", "dropout_kernel(const float *x, float *y, float p, int n, at::PhiloxCudaState philox_args)", ""},
        {"pointwise.cu", "", "pointwise (pointwise.cu:5)"},
        {"inline_source.cu", "inline_axpy(float a, const float *x, float *y, int n)", ""},
    };
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
        heddle_check_globals globals;
        char text[8192];
        read_file(styles[i].file, &globals);
        assert_contains(heddle_check_globals_text(&globals, text, sizeof text), styles[i].kernels);
        assert_contains(globals.left_out, styles[i].left_out);
        if (!styles[i].left_out[0])
            assert_string_equal(globals.left_out, "");
        assert_int_equal(globals.uses_torch, strcmp(styles[i].file, "inline_source.cu") != 0);
        heddle_check_globals_free(&globals);
    }
}

static void test_launchers_without_tensors_stay(void **state)
{
    (void)state;
    heddle_check_globals globals;
    read_file("parameters.cu", &globals);
    assert_lacks(globals.left_out, "run_scaled_copy");
    heddle_check_globals_free(&globals);
    read_file("cooperative.cu", &globals);
    assert_lacks(globals.left_out, "launch_cooperative");
    heddle_check_globals_free(&globals);
}

static void test_a_command_is_suggested_from_the_file_s_own_launch(void **state)
{
    (void)state;
    heddle_check_globals globals;
    char text[4096];
    read_file("engine.cu", &globals);
    heddle_check_extension_suggest(globals.at[0], "engine.cu", NULL, "heddle", text, sizeof text);
    assert_contains(text,
                    "heddle check engine.cu --kernel 'engine::rms_norm_kernel<float>' --args \"out: inout "
                    "float[4096] = zeros, input: float[4096] = normal, weight: float[4096] = normal, epsilon = 1.0, "
                    "num_tokens = 32, hidden_size = 32\" --grid 4 --block 32");
    heddle_check_globals_free(&globals);
}

static void test_names_have_only_the_namespaces_around_them(void **state)
{
    static const char source[] =
        "namespace cg = cooperative_groups;\nextern \"C\" {\n__global__ void plain(int n) {}\n}\n"
        "namespace a {\nextern \"C\" {\n__global__ void inside(int n) {}\n}\n}\n";
    scratch_write(*state, "names.cu", source, strlen(source));
    const char *const paths[] = {scratch_path(*state, "names.cu"), NULL}, *const folders[] = {NULL};
    heddle_check_globals globals;
    assert_ok(heddle_check_globals_read(paths, folders, &globals));
    assert_int_equal(globals.count, 2);
    assert_string_equal(globals.at[0]->qualified, "plain");
    assert_string_equal(globals.at[1]->qualified, "a::inside");
    heddle_check_globals_free(&globals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_of_every_style_are_found),
        cmocka_unit_test(test_launchers_without_tensors_stay),
        cmocka_unit_test(test_a_command_is_suggested_from_the_file_s_own_launch),
        cmocka_unit_test_setup_teardown(test_names_have_only_the_namespaces_around_them, scratch_set_up,
                                        scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
