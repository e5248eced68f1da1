// The sample report.

#include "sample.h"

#include "check/finish.h"

#include <stdlib.h>
#include <string.h>

#include "files.h"

const char sample_source[] = "__global__ void mm(const float *a, float *d_c)\n"
                             "{\n"
                             "    __shared__ float As[256];\n"
                             "    As[threadIdx.x] = a[threadIdx.x];\n"
                             "    float sum = As[255 - threadIdx.x];\n"
                             "    d_c[threadIdx.x * 32] = sum;\n"
                             "}\n"
                             "\n"
                             "int main()\n"
                             "{\n"
                             "    float *d_c; cudaMalloc(&d_c, 4096);\n"
                             "    mm<<<1, 256>>>(0, d_c);\n"
                             "}\n";

#define PLACE(role, line, thread)                                                                                      \
    "{\"role\": \"" role "\", \"file\": \"@\", \"line\": " line ", \"function\": \"mm\", \"thread\": " thread          \
    ", \"block\": [0, 0, 0], \"stack\": [{\"file\": \"@\", \"line\": " line ", \"function\": \"mm\"}], \"offset\": 7}"

const char sample_report[] =
    "{\"version\": 1, \"status\": \"finished\", \"gpu\": \"h200\", \"schedule\": 0, \"strict\": false, \"findings\": ["
    "{\"kind\": \"leak\", \"tier\": \"warning\", \"count\": 1, \"kernel\": null, \"message\": \"never freed\", "
    "\"note\": "
    "\"\", \"places\": [{\"role\": \"call\", \"file\": \"@\", \"line\": 11, \"function\": \"main\"}]},"
    "{\"kind\": \"race\", \"tier\": \"error\", \"count\": 29696, \"kernel\": \"mm\", \"message\": \"one thread reads "
    "what "
    "another writes\", \"note\": \"no barrier between\", \"places\": [" PLACE("write", "4", "[1, 0, 0]") ", " PLACE(
        "read", "5",
        "[254, 0, 0]") "],"
                       "\"memory\": {\"space\": \"shared\", \"name\": \"As\", \"bytes\": 1024, \"offset\": 4, "
                       "\"size\": 4, \"live\": true},"
                       "\"values\": [7]},"
                       "{\"kind\": \"out-of-bounds\", \"tier\": \"error\", \"count\": 3, \"kernel\": \"mm\", "
                       "\"message\": \"a write past the "
                       "end\", \"note\": \"\", \"places\": [" PLACE(
                           "write", "6",
                           "[32, 0, 0]") "],"
                                         "\"memory\": {\"space\": \"global\", \"name\": \"d_c\", \"bytes\": 4096, "
                                         "\"offset\": 4096, \"size\": 4, \"live\": true,"
                                         "\"allocated\": {\"file\": \"@\", \"line\": 11, \"call\": \"cudaMalloc\"}}}],"
                                         "\"kernels\": [{\"kernel\": \"mm\", \"grid\": [1, 1, 1], \"block\": [256, 1, "
                                         "1], \"shared\": 0, \"launches\": 1, "
                                         "\"accesses\": 1024, \"barriers\": 0, \"threads\": 256, \"lines\": ["
                                         "{\"file\": \"@\", \"line\": 4, \"kind\": \"load\", \"space\": \"global\", "
                                         "\"size\": 4, \"requests\": 8, \"lanes\": "
                                         "256, \"units\": 32, \"ideal\": 32},"
                                         "{\"file\": \"@\", \"line\": 6, \"kind\": \"store\", \"space\": \"global\", "
                                         "\"size\": 4, \"requests\": 8, \"lanes\": "
                                         "256, \"units\": 256, \"ideal\": 32, \"worst\": {\"units\": 32, \"mask\": "
                                         "4294967295, \"lowest\": 1024, \"offsets\": "
                                         "[0, 128, 256, 384, 512, 640, 768, 896, 1024, 1152, 1280, 1408, 1536, 1664, "
                                         "1792, 1920, 2048, 2176, 2304, 2432, 2560, "
                                         "2688, 2816, 2944, 3072, 3200, 3328, 3456, 3584, 3712, 3840, 3968], "
                                         "\"block\": [0, 0, 0], \"warp\": 1}},"
                                         "{\"file\": \"@\", \"line\": 5, \"kind\": \"load\", \"space\": \"shared\", "
                                         "\"size\": 4, \"requests\": 8, \"lanes\": "
                                         "256, \"units\": 16, \"ideal\": 8, \"worst\": {\"units\": 2, \"mask\": 3, "
                                         "\"lowest\": 0, \"offsets\": [0, 128], "
                                         "\"block\": [0, 0, 0], \"warp\": 0}}]}],"
                                         "\"copies\": [\"1f3a\", \"22\"], \"totals\": {\"accesses\": 1200000, "
                                         "\"launches\": 1, \"seconds\": 0.1}}";

char *sample_text(const char *folder, const char *report)
{
    scratch_write(folder, "tile.cu", sample_source, strlen(sample_source));
    const char *path = scratch_path(folder, "tile.cu");
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    for (; *report; report++) {
        if (*report == '@')
            fputs(path, stream);
        else
            fputc(*report, stream);
    }
    fclose(stream);
    return text;
}

heddle_check_report *sample_parse(const char *folder, const char *report)
{
    heddle_check_report *parsed = NULL;
    char *text = sample_text(folder, report);
    assert_ok(heddle_check_report_parse("the sample", text, strlen(text), &parsed));
    free(text);
    return parsed;
}

heddle_check_result *sample_unfinished(const char *folder, const char *report)
{
    heddle_check_result *result = NULL;
    assert_ok(heddle_check_result_create(&result));
    result->built = true;
    assert_ok(heddle_check_result_add_run(result, sample_parse(folder, report)));
    return result;
}

heddle_check_result *sample_result(const char *folder, const char *report)
{
    heddle_check_result *result = sample_unfinished(folder, report);
    heddle_check_finish(result, NULL, false);
    return result;
}

char *sample_shown(const heddle_check_result *result, sample_writer *show)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_ok(show(result, stream));
    fclose(stream);
    return text;
}
