// The driver: what it builds, what it says when it cannot, and what it leaves behind.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build/build.h"
#include "build/command.h"
#include "build/words.h"

// A folder of its own for sources, temporary files and the cache, so that what is left behind can be counted.
static char folder[64], temporary[96];

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int files_in(const char *path)
{
    int count = 0;
    DIR *entries = opendir(path);
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(entries);
    return count;
}

// simcc with these arguments, all in the folder.
static sim_build_status run(sim_build_result *result, char **argv)
{
    int argc = 0;
    while (argv[argc])
        argc++;
    sim_command command;
    *result = (sim_build_result){0};
    assert_true(sim_command_parse(&command, argc, argv, result));
    sim_build_status status = sim_build(&command.options, result);
    sim_command_free(&command);
    assert_int_equal(files_in(temporary), 0);
    return status;
}

#define BUILD(result, ...) run(result, (char *[]){"simcc", __VA_ARGS__, NULL})

static void assert_message(const sim_build_result *result, const char *file, int line, int column, const char *part)
{
    for (int i = 0; i < result->count; i++) {
        const sim_build_message *message = &result->messages[i];
        if (message->file && strcmp(message->file, file) == 0 && message->line == line && message->column == column &&
            strstr(message->text, part))
            return;
    }
    for (int i = 0; i < result->count; i++)
        print_error("%s:%d:%d: %s\n", result->messages[i].file ? result->messages[i].file : "-",
                    result->messages[i].line, result->messages[i].column, result->messages[i].text);
    fail_msg("no message at %s:%d:%d with \"%s\"", file, line, column, part);
}

static const char twice[] = "#include <cstdio>\n"
                            "#include \"parts/kernels.cuh\"\n"
                            "int main() {\n"
                            "    int *p, x = 0;\n"
                            "    cudaMalloc(&p, 4);\n"
                            "    start(p);\n"
                            "    cudaMemcpy(&x, p, 4, cudaMemcpyDeviceToHost);\n"
                            "    cudaFree(p);\n"
                            "    return x + answer();\n"
                            "}\n";

static void write_program(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/parts", folder);
    mkdir(path, 0700);
    write_file("twice.cu", twice);
    // A launch in a header, which includes its neighbour.
    write_file("parts/kernels.cuh",
               "#pragma once\n#include \"value.cuh\"\nint answer();\n"
               "__global__ void k(int *p) { extern __shared__ int s[]; s[0] = value(); *p = s[0]; }\n"
               "inline void start(int *p) { k<<<1, 1, 4>>>(p); }\n");
    write_file("parts/value.cuh", "__device__ inline int value() { return 20; }\n");
    write_file("answer.cpp", "int answer() { return 22; }\n");
}

static void a_program_of_several_files_is_built_and_runs(void **state)
{
    (void)state;
    write_program();
    sim_build_result result;
    assert_int_equal(BUILD(&result, "-O3", "-arch=sm_90", "twice.cu", "answer.cpp", "-o", "twice", "-lcudart"),
                     SIM_BUILD_FINE);
    assert_int_equal(result.count, 0);
    sim_build_result_free(&result);
    int status = system("./twice >/dev/null 2>&1");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

static void c_sources_have_the_driver_and_the_runtime(void **state)
{
    (void)state;
    write_file("plain.c", "#include <cuda.h>\n"
                          "int main(void)\n{\n"
                          "    CUdeviceptr memory = 0;\n    CUcontext context;\n    int devices = 0, read = 0;\n"
                          "    CUresult result = cuInit(0);\n    result |= cuCtxCreate(&context, NULL, 0, 0);\n"
                          "    result |= cuCtxCreate(&context, 0, 0); // before CUDA 13\n"
                          "    size_t granularity = 0;\n    CUmemAllocationProp wanted = {0};\n"
                          "    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;\n"
                          "    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;\n"
                          "    result |= cuMemGetAllocationGranularity(&granularity, &wanted, 0);\n"
                          "    result |= cuMemAlloc(&memory, 4);\n    result |= cuMemsetD32(memory, 7, 1);\n"
                          "    result |= cuMemcpyDtoH(&read, memory, 4);\n    result |= cuMemFree(memory);\n"
                          "    cudaError_t error = cudaGetDeviceCount(&devices);\n"
                          "    return result || error ? 2 : read == 7 ? devices : 3;\n}\n");
    sim_build_result result;
    assert_int_equal(BUILD(&result, "plain.c", "-o", "plain"), SIM_BUILD_FINE);
    sim_build_result_free(&result);
    int status = system("./plain >/dev/null 2>&1");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

static void a_library_that_is_not_simulated_is_one_message(void **state)
{
    (void)state;
    write_file("npp.cu", "#include <cstdio>\n#include <npp.h>\nint main() { return undeclared; }\n");
    sim_build_result result;
    assert_int_equal(BUILD(&result, "npp.cu", "-o", "npp"), SIM_BUILD_FAILED);
    assert_int_equal(result.count, 1);
    assert_message(&result, "npp.cu", 2, 0, "the simulated GPU has no NPP: ");
    sim_build_result_free(&result);
}

static void objects_are_linked_later(void **state)
{
    (void)state;
    write_program();
    sim_build_result result;
    assert_int_equal(BUILD(&result, "--unwatched", "-c", "twice.cu"), SIM_BUILD_FINE);
    sim_build_result_free(&result);
    assert_int_equal(BUILD(&result, "--unwatched", "twice.o", "answer.cpp", "-o", "later"), SIM_BUILD_FINE);
    sim_build_result_free(&result);
    int status = system("./later >/dev/null 2>&1");
    assert_int_equal(WEXITSTATUS(status), 42);
}

static void errors_are_at_the_places_of_the_users_file(void **state)
{
    (void)state;
    write_file("wrong.cu", "__global__ void k(int *p) { *p = missing; }\n"
                           "#include \"wrong.cuh\"\n"
                           "int main() {\n"
                           "    int *p; k<<<1, 1>>>(p); other_missing();\n"
                           "    k<<<1, 1>>>(1.5f, p);\n"
                           "}\n");
    write_file("wrong.cuh", "inline void h() { k<<<1, 1>>>(0); header_missing(); }\n");
    sim_build_result result;
    assert_int_equal(BUILD(&result, "wrong.cu", "-o", "wrong"), SIM_BUILD_FAILED);
    assert_message(&result, "wrong.cu", 1, 34, "missing");
    assert_message(&result, "wrong.cu", 4, 29, "other_missing");
    assert_message(&result, "wrong.cuh", 1, 35, "header_missing");
    bool at_launch = false;
    for (int i = 0; i < result.count; i++) {
        at_launch |= result.messages[i].line == 5;
        if (result.messages[i].file)
            assert_null(strstr(result.messages[i].file, "sim/"));
    }
    assert_true(at_launch);
    sim_build_result_free(&result);
    assert_int_equal(access("wrong", F_OK), -1);
}

static void a_wrong_operator_names_only_the_users_types(void **state)
{
    (void)state;
    write_file("operator.cu", "__global__ void k(float4 *p, float by) { p[0] = p[1] / by; p[1] /= by; }\n");
    sim_build_result result;
    assert_int_equal(BUILD(&result, "operator.cu", "-o", "operator"), SIM_BUILD_FAILED);
    for (int i = 0; i < result.count; i++) {
        assert_null(strstr(result.messages[i].text, "sim"));
        assert_null(strstr(result.messages[i].text, "std::"));
        assert_string_equal(result.messages[i].file, "operator.cu");
    }
    assert_non_null(strstr(result.messages[0].text, "float4"));
    sim_build_result_free(&result);
}

static void a_kernel_must_return_void(void **state)
{
    (void)state;
    write_file("returns.cu", "\n__global__ int k(int *p) { return *p; }\n"
                             "int main() {\n"
                             "    k<<<1, 1>>>(nullptr);\n"
                             "}\n");
    sim_build_result result;
    assert_int_equal(BUILD(&result, "returns.cu", "-o", "returns"), SIM_BUILD_FAILED);
    assert_int_equal(result.count, 1);
    assert_string_equal(result.messages[0].file, "returns.cu");
    assert_int_equal(result.messages[0].line, 2);
    assert_string_equal(result.messages[0].text, "a __global__ function must return void");
    sim_build_result_free(&result);
}

static void what_the_linker_misses_is_named(void **state)
{
    (void)state;
    write_file("unlinked.cu", "void elsewhere();\nint main() { elsewhere(); }\n");
    sim_build_result result;
    assert_int_equal(BUILD(&result, "unlinked.cu", "-o", "unlinked"), SIM_BUILD_FAILED);
    bool named = false;
    for (int i = 0; i < result.count; i++)
        named |= strstr(result.messages[i].text, "elsewhere") != NULL;
    assert_true(named);
    sim_build_result_free(&result);
}

static void a_faster_linker_that_fails_is_replaced_by_the_default_one(void **state)
{
    (void)state;
    write_file("ends.cu", "int main() { return 42; }\n");
    write_file("lost.cu", "int missing();\nint main() { return missing(); }\n");
    write_file("ld.gold", "#!/bin/sh\ntouch ran\necho \"ld.gold: undefined reference to nonsense\" >&2\nexit 1\n");
    assert_int_equal(chmod("ld.gold", 0700), 0);
    char *path = strdup(getenv("PATH")), first[4096];
    snprintf(first, sizeof first, "%s:%s", folder, path);
    setenv("PATH", first, 1);
    sim_build_result result;
    assert_int_equal(BUILD(&result, "ends.cu", "-o", "ends"), SIM_BUILD_FINE);
    assert_int_equal(result.count, 0);
    assert_int_equal(access("ran", F_OK), 0);
    assert_int_equal(WEXITSTATUS(system("./ends")), 42);
    sim_build_result_free(&result);
    assert_int_equal(BUILD(&result, "lost.cu", "-o", "lost"), SIM_BUILD_FAILED);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(result.count, 1);
    assert_non_null(strstr(result.messages[0].text, "missing"));
    sim_build_result_free(&result);
}

static void names_of_unasked_headers_do_not_get_in_the_way(void **state)
{
    (void)state;
    sim_build_result result;
    write_file("own.cu", "#include <iostream>\nusing namespace std;\n__global__ void reduce(int *p) {}\n"
                         "int accumulate(int *a, int *b, int c) { return c; }\n"
                         "int main() { reduce<<<1, 1>>>(nullptr); return accumulate(nullptr, nullptr, 3); }\n");
    assert_int_equal(BUILD(&result, "--unwatched", "own.cu", "-o", "own"), SIM_BUILD_FINE);
    sim_build_result_free(&result);
    // <vector> comes with <algorithm>.
    write_file("own.cu", "#include <vector>\nusing namespace std;\nint reverse;\n"
                         "int main() { return reverse; }\n");
    assert_int_equal(BUILD(&result, "--unwatched", "own.cu", "-o", "own"), SIM_BUILD_FINE);
    sim_build_result_free(&result);
}

static void what_an_ended_compiler_leaves_goes_with_the_build(void **state)
{
    (void)state;
    write_file("ended", "#!/bin/sh\ncase \"$*\" in *-pie*) mktemp; kill -9 $$ ;; esac\nexec c++ \"$@\"\n");
    write_file("plain.cpp", "int main() { return 0; }\n");
    assert_int_equal(chmod("ended", 0700), 0);
    sim_build_result result;
    assert_int_equal(BUILD(&result, "--compiler", "./ended", "plain.cpp", "-o", "plain"), SIM_BUILD_FAILED);
    sim_build_result_free(&result); // run() has looked for files
}

static void a_missing_compiler_is_told_from_a_wrong_program(void **state)
{
    (void)state;
    sim_build_result result;
    write_program();
    assert_int_equal(BUILD(&result, "--compiler", "no-such-compiler", "twice.cu"), SIM_BUILD_NO_COMPILER);
    assert_int_equal(result.count, 1);
    sim_build_result_free(&result);
    setenv("SIM_HOME", "/nonexistent", 1);
    assert_int_equal(BUILD(&result, "twice.cu"), SIM_BUILD_NO_COMPILER);
    unsetenv("SIM_HOME");
    sim_build_result_free(&result);
    assert_int_equal(BUILD(&result, "no-such-file.cu"), SIM_BUILD_USAGE);
    sim_build_result_free(&result);
}

static void it_works_without_a_cache(void **state)
{
    (void)state;
    const char *was = getenv("XDG_CACHE_HOME");
    char *cache = strdup(was ? was : "");
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
    write_program();
    sim_build_result result;
    assert_int_equal(BUILD(&result, "--unwatched", "twice.cu", "answer.cpp", "-o", "uncached"), SIM_BUILD_FINE);
    sim_build_result_free(&result);
    setenv("XDG_CACHE_HOME", cache, 1);
    free(cache);
}

static void options_are_nvccs(void **state)
{
    (void)state;
    char *argv[] = {"simcc",
                    "-O3",
                    "-arch=sm_90",
                    "-gencode",
                    "arch=compute_80,code=sm_80",
                    "-std=c++20",
                    "--std",
                    "c++14",
                    "-Iinc",
                    "-I",
                    "more",
                    "-DN=4",
                    "-D",
                    "M",
                    "--expt-relaxed-constexpr",
                    "-lineinfo",
                    "-Xcompiler",
                    "-fopenmp,-Wall,-O2",
                    "-lcublas",
                    "-lm",
                    "-Llib",
                    "-rdc=true",
                    "--unknown-thing",
                    "-x",
                    "cu",
                    "a.cu",
                    "b.cpp",
                    "-o",
                    "out",
                    NULL};
    int argc = (int)(sizeof argv / sizeof *argv) - 1;
    sim_command command;
    sim_build_result result = {0};
    assert_true(sim_command_parse(&command, argc, argv, &result));
    assert_string_equal(command.options.output, "out");
    assert_string_equal(command.options.files[0], "a.cu");
    assert_string_equal(command.options.files[1], "b.cpp");
    assert_null(command.options.files[2]);
    assert_true(command.options.all_cuda);
    const char *const compile[] = {"-std=c++20", "-DN=4", "-DM", "-fopenmp"};
    for (size_t i = 0; i < sizeof compile / sizeof *compile; i++)
        assert_string_equal(command.options.compile[i], compile[i]);
    assert_null(command.options.compile[4]);
    assert_string_equal(command.options.include[1], "more");
    const char *const link[] = {"-fopenmp", "-lcublas", "-lm", "-Llib"};
    for (size_t i = 0; i < sizeof link / sizeof *link; i++)
        assert_string_equal(command.options.link[i], link[i]);
    assert_int_equal(result.count, 1);
    assert_non_null(strstr(result.messages[0].text, "--unknown-thing"));
    sim_command_free(&command);
    sim_build_result_free(&result);
}

// A file of the folder, read whole.
static char *read_list(const char *name)
{
    static char text[1 << 16];
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static void assert_lists(const char *list, const char *const *names)
{
    for (; *names; names++)
        if (!strstr(list, *names))
            fail_msg("\"%s\" is not in this list: %s", *names, list);
    // The rewritten files and the precompiled header are gone tomorrow.
    char cache[96];
    snprintf(cache, sizeof cache, "%s/heddle", folder);
    if (strstr(list, temporary) || strstr(list, cache))
        fail_msg("a file of the simulator's own is listed: %s", list);
}

static void the_headers_of_an_object_are_listed(void **state)
{
    (void)state;
    write_program();
    sim_build_result result;
    assert_int_equal(BUILD(&result, "-c", "twice.cu", "-MD", "-MP", "-o", "twice.o"), SIM_BUILD_FINE);
    const char *const names[] = {
        "twice.o: ",           "  twice.cu", "  parts/kernels.cuh", "/parts/value.cuh", "sim/standin.h",
        "/parts/value.cuh:\n", NULL};
    assert_lists(read_list("twice.d"), names);
    assert_null(strstr(read_list("twice.d"), "\ntwice.cu:"));
    sim_build_result_free(&result);
}

static void the_sources_of_a_program_are_listed_with_their_headers(void **state)
{
    (void)state;
    write_program();
    write_file("an $answer.cpp", "#include \"a #name.h\"\nint answer() { return 22; }\n");
    write_file("a #name.h", "");
    sim_build_result result;
    assert_int_equal(BUILD(&result, "twice.cu", "an $answer.cpp", "-MD", "-MF", "list", "-MT", "a b", "-o", "twice"),
                     SIM_BUILD_FINE);
    const char *const names[] = {"a b: ",           "  twice.cu", "/parts/value.cuh", "  an\\ $$answer.cpp",
                                 "  a\\ \\#name.h", NULL};
    assert_lists(read_list("list"), names);
    assert_null(strstr(read_list("list"), "value.cuh:\n"));
    sim_build_result_free(&result);
}

static void a_list_that_cannot_be_written_is_an_error(void **state)
{
    (void)state;
    write_program();
    sim_build_result result;
    assert_int_equal(BUILD(&result, "-c", "twice.cu", "-MD", "-MF", "nowhere/list"), SIM_BUILD_SYSTEM);
    assert_int_equal(result.count, 1);
    assert_non_null(strstr(result.messages[0].text, "nowhere/list"));
    sim_build_result_free(&result);
}

static int in_a_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/simcc-test-XXXXXX");
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    snprintf(temporary, sizeof temporary, "%s/temporary", folder);
    if (mkdir(temporary, 0700) != 0)
        return -1;
    return setenv("TMPDIR", temporary, 1) || setenv("XDG_CACHE_HOME", folder, 1);
}

static int remove_folder(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}

static int status_of(const char *command)
{
    int status = system(command);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

// A step of scale.cu and of start.cu, which mean different things unless device code is linked together.
static void write_steps(void)
{
    write_file("start.cu", "void scale(int *p);\n__device__ int step = 3;\n"
                           "__global__ void begin(int *p) { *p = step; }\n"
                           "int main() { int *p, x; cudaMalloc(&p, 4); begin<<<1, 1>>>(p); scale(p);\n"
                           "cudaMemcpy(&x, p, 4, cudaMemcpyDeviceToHost); cudaFree(p); return x; }\n");
    write_file("scale.cu", "__device__ int step = 5;\n__global__ void times(int *p) { *p *= step; }\n"
                           "void scale(int *p) { times<<<1, 1>>>(p); }\n");
}

static void objects_that_are_linked_later_keep_their_device_names(void **state)
{
    (void)state;
    write_steps();
    sim_build_result result;
    assert_int_equal(BUILD(&result, "-c", "start.cu", "-o", "start.o"), SIM_BUILD_FINE);
    assert_int_equal(BUILD(&result, "-c", "scale.cu", "-o", "scale.o"), SIM_BUILD_FINE);
    assert_int_equal(BUILD(&result, "start.o", "scale.o", "-o", "steps"), SIM_BUILD_FINE);
    sim_build_result_free(&result);
    assert_int_equal(status_of("./steps >/dev/null 2>&1"), 15);
}

static void device_code_is_linked_and_archived(void **state)
{
    (void)state;
    write_steps();
    write_file("scale.cu", "extern __device__ int step;\n__global__ void times(int *p) { *p *= step; }\n"
                           "void scale(int *p) { times<<<1, 1>>>(p); }\n");
    sim_build_result result;
    assert_int_equal(BUILD(&result, "-dc", "start.cu", "-o", "start.o"), SIM_BUILD_FINE);
    assert_int_equal(BUILD(&result, "-lib", "-rdc=true", "scale.cu", "-o", "scale.a"), SIM_BUILD_FINE);
    assert_int_equal(BUILD(&result, "-shared", "-dlink", "start.o", "scale.a", "-o", "device.o"), SIM_BUILD_FINE);
    assert_int_equal(BUILD(&result, "start.o", "device.o", "scale.a", "-o", "steps"), SIM_BUILD_FINE);
    sim_build_result_free(&result);
    assert_int_equal(status_of("./steps >/dev/null 2>&1"), 9);
}

static void words_come_from_files_too(void **state)
{
    (void)state;
    write_file("options", "-DNAME=\"a b\"\n-DQUOTE=\\\"  @more\n");
    write_file("more", "'x.cu'\n");
    sim_words words = {0};
    char *argv[] = {"-O3", "--options-file", "options", "--options-file=more"};
    sim_words_add_list(&words, 4, argv);
    sim_words_add_text(&words, " -g  -G");
    const char *const expected[] = {"-O3", "-DNAME=a b", "-DQUOTE=\"", "x.cu", "x.cu", "-g", "-G"};
    assert_int_equal(words.count, 7);
    for (int i = 0; i < 7; i++)
        assert_string_equal(words.at[i], expected[i]);
    assert_false(words.failed);
    sim_words_add_list(&words, 1, (char *[]){"@nowhere"});
    assert_true(words.failed);
    assert_string_equal(words.unread, "nowhere");
    sim_words_free(&words);
    // One that names itself ends all the same.
    write_file("circle", "@circle\n");
    sim_words_add_list(&words, 1, (char *[]){"@circle"});
    assert_true(words.failed);
    sim_words_free(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_of_several_files_is_built_and_runs),
        cmocka_unit_test(c_sources_have_the_driver_and_the_runtime),
        cmocka_unit_test(a_library_that_is_not_simulated_is_one_message),
        cmocka_unit_test(objects_are_linked_later),
        cmocka_unit_test(errors_are_at_the_places_of_the_users_file),
        cmocka_unit_test(a_wrong_operator_names_only_the_users_types),
        cmocka_unit_test(a_kernel_must_return_void),
        cmocka_unit_test(what_the_linker_misses_is_named),
        cmocka_unit_test(a_faster_linker_that_fails_is_replaced_by_the_default_one),
        cmocka_unit_test(names_of_unasked_headers_do_not_get_in_the_way),
        cmocka_unit_test(what_an_ended_compiler_leaves_goes_with_the_build),
        cmocka_unit_test(a_missing_compiler_is_told_from_a_wrong_program),
        cmocka_unit_test(it_works_without_a_cache),
        cmocka_unit_test(options_are_nvccs),
        cmocka_unit_test(the_headers_of_an_object_are_listed),
        cmocka_unit_test(the_sources_of_a_program_are_listed_with_their_headers),
        cmocka_unit_test(a_list_that_cannot_be_written_is_an_error),
        cmocka_unit_test(objects_that_are_linked_later_keep_their_device_names),
        cmocka_unit_test(device_code_is_linked_and_archived),
        cmocka_unit_test(words_come_from_files_too),
    };
    return cmocka_run_group_tests(tests, in_a_folder, remove_folder);
}
