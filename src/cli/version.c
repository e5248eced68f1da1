// `heddle version`: the version of heddle, what it was built from and how, its devices and its libraries.

#include <stdio.h>

#include <cjson/cJSON.h>
#include <zlib.h>

#ifdef HEDDLE_HAVE_OPENBLAS
#include <cblas.h>
#endif
#ifdef HEDDLE_HAVE_FFTW
#include <fftw3.h>
#endif
#ifdef HEDDLE_HAVE_CURL
#include <curl/curl.h>
#endif
#ifdef HEDDLE_HAVE_CRYPTO
#include <openssl/crypto.h>
#endif
#ifdef HEDDLE_HAVE_PNG
#include <png.h>
#endif
#ifdef HEDDLE_HAVE_JPEG
#include <jpeglib.h>
#endif
#ifdef HEDDLE_HAVE_LIBDW
#include <elfutils/libdwfl.h>
#endif
#ifdef HEDDLE_HAVE_MICROHTTPD
#include <microhttpd.h>
#endif
#ifdef HEDDLE_HAVE_CMARK
#include <cmark-gfm.h>
#endif

#include "build_facts.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "device/module.h"
#include "heddle/device.h"
#include "heddle/heddle.h"

#define TEXT(value)    TEXT_OF(value)
#define TEXT_OF(value) #value

enum { MODULE_PATH_SIZE = 4096 };

typedef struct version_settings {
    heddle_cli_json json;
} version_settings;

static const heddle_cli_option options[] = {
    HEDDLE_CLI_JSON_OPTION(offsetof(version_settings, json)),
};

static void add(cJSON *all, const char *name, const char *version)
{
    cJSON_AddStringToObject(all, name, version);
}

static void add_cpu(cJSON *all)
{
    heddle_device *device;
    heddle_device_info info;
    if (heddle_device_open("cpu", 1, &device) != HEDDLE_OK)
        return;
    if (heddle_device_describe(device, &info) == HEDDLE_OK)
        add(all, "instructions", info.instructions);
    heddle_device_close(device);
}

// Those of `names` whose module this heddle has. Nothing is loaded: a driver may be slow to start.
static void add_modules(cJSON *list, const char *const *names)
{
    for (; *names; names++) {
        char file[64], path[MODULE_PATH_SIZE];
        snprintf(file, sizeof file, "libheddle-%s.so", *names);
        if (heddle_module_find(file, path, sizeof path))
            cJSON_AddItemToArray(list, cJSON_CreateString(*names));
    }
}

static void add_build(cJSON *all)
{
    static const char *const devices[] = {"sim", "cuda", NULL};
    static const char *const others[] = {"mpi", "nccl", "cublas", "cudnn", "cutlass", "curand", "cufft", "cupti", NULL};
    add(all, "heddle", heddle_version());
    add(all, "commit", HEDDLE_COMMIT[0] ? HEDDLE_COMMIT : "unknown");
    add(all, "build", HEDDLE_BUILD_TYPE);
    add(all, "sanitizers", HEDDLE_SANITIZERS[0] ? HEDDLE_SANITIZERS : "none");
#ifdef __clang__
    add(all, "compiler", __VERSION__); // begins with its name
#else
    add(all, "compiler", "gcc " __VERSION__);
#endif
    cJSON *list = cJSON_AddArrayToObject(all, "devices");
    cJSON_AddItemToArray(list, cJSON_CreateString("cpu"));
    add_modules(list, devices);
    add_modules(cJSON_AddArrayToObject(all, "modules"), others);
    add_cpu(all);
}

static void add_libraries(cJSON *all)
{
    const char *absent = "not in this build";
    const char *blas = absent, *fftw = absent, *curl = absent, *crypto = absent, *png = absent, *jpeg = absent;
    const char *dw = absent, *microhttpd = absent, *cmark = absent;
#ifdef HEDDLE_HAVE_OPENBLAS
    blas = openblas_get_config();
#endif
#ifdef HEDDLE_HAVE_FFTW
    fftw = fftwf_version;
#endif
#ifdef HEDDLE_HAVE_CURL
    curl = curl_version_info(CURLVERSION_NOW)->version;
#endif
#ifdef HEDDLE_HAVE_CRYPTO
    crypto = OpenSSL_version(OPENSSL_VERSION);
#endif
#ifdef HEDDLE_HAVE_PNG
    png = png_get_libpng_ver(NULL);
#endif
#if defined HEDDLE_HAVE_JPEG && defined LIBJPEG_TURBO_VERSION
    jpeg = "turbo " TEXT(LIBJPEG_TURBO_VERSION);
#elif defined HEDDLE_HAVE_JPEG
    jpeg = TEXT(JPEG_LIB_VERSION);
#endif
#ifdef HEDDLE_HAVE_LIBDW
    dw = dwfl_version(NULL);
#endif
#ifdef HEDDLE_HAVE_MICROHTTPD
    microhttpd = MHD_get_version();
#endif
#ifdef HEDDLE_HAVE_CMARK
    cmark = cmark_version_string();
#endif
    add(all, "zlib", zlibVersion());
    add(all, "cJSON", cJSON_Version());
    add(all, "OpenBLAS", blas);
    add(all, "FFTW", fftw);
    add(all, "libcurl", curl);
    add(all, "libcrypto", crypto);
    add(all, "libpng", png);
    add(all, "libjpeg", jpeg);
    add(all, "libdw", dw);
    add(all, "libmicrohttpd", microhttpd);
    add(all, "cmark-gfm", cmark);
    add(all, "CodeMirror", HEDDLE_CODEMIRROR[0] ? HEDDLE_CODEMIRROR : absent);
}

static void print_list(const cJSON *list)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list) printf("%s%s", item != list->child ? ", " : "", item->valuestring);
    printf("%s\n", list->child ? "" : "none");
}

static void print(const cJSON *all)
{
    const cJSON *part;
    cJSON_ArrayForEach(part, all)
    {
        printf(part == all->child ? "%s " : "  %-13s  ", part->string);
        if (cJSON_IsArray(part))
            print_list(part);
        else
            puts(part->valuestring);
    }
}

static int run_command(int argc, char **argv)
{
    version_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_version, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    cJSON *all = cJSON_CreateObject();
    add_build(all);
    add_libraries(all);
    if (!settings.json.print)
        print(all);
    return heddle_cli_json_exit(&settings.json, all);
}

const heddle_cli_command heddle_command_version = {
    .name = "version",
    .summary = "show the version of heddle, its commit, how it was built, its devices and its libraries",
    .description = "Lists the devices and the modules that are installed with this command; whether they work on this "
                   "machine, `heddle doctor` says. The commit is not known if the sources came without git.",
    .example = "heddle version",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
