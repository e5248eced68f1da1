// `heddle version`: the version of heddle, what it was built from and how, its devices and its libraries.

#include <stdio.h>

#include <cjson/cJSON.h>
#include <zlib.h>

#define ABSENT "not in this build"

#ifdef HEDDLE_HAVE_OPENBLAS
#include <cblas.h>
#define VERSION_OF_OPENBLAS openblas_get_config()
#else
#define VERSION_OF_OPENBLAS ABSENT
#endif
#ifdef HEDDLE_HAVE_FFTW
#include <fftw3.h>
#define VERSION_OF_FFTW fftwf_version
#else
#define VERSION_OF_FFTW ABSENT
#endif
#ifdef HEDDLE_HAVE_CURL
#include <curl/curl.h>
#define VERSION_OF_CURL curl_version_info(CURLVERSION_NOW)->version
#else
#define VERSION_OF_CURL ABSENT
#endif
#ifdef HEDDLE_HAVE_CRYPTO
#include <openssl/crypto.h>
#define VERSION_OF_CRYPTO OpenSSL_version(OPENSSL_VERSION)
#else
#define VERSION_OF_CRYPTO ABSENT
#endif
#ifdef HEDDLE_HAVE_PROTOBUF
#include <protobuf-c/protobuf-c.h>
#define VERSION_OF_PROTOBUF protobuf_c_version()
#else
#define VERSION_OF_PROTOBUF ABSENT
#endif
#ifdef HEDDLE_HAVE_PNG
#include <png.h>
#define VERSION_OF_PNG png_get_libpng_ver(NULL)
#else
#define VERSION_OF_PNG ABSENT
#endif
#ifdef HEDDLE_HAVE_JPEG
#include <jpeglib.h>
#define TEXT(value)    TEXT_OF(value)
#define TEXT_OF(value) #value
#ifdef LIBJPEG_TURBO_VERSION
#define VERSION_OF_JPEG "turbo " TEXT(LIBJPEG_TURBO_VERSION)
#else
#define VERSION_OF_JPEG TEXT(JPEG_LIB_VERSION)
#endif
#else
#define VERSION_OF_JPEG ABSENT
#endif
#ifdef HEDDLE_HAVE_LIBDW
#include <elfutils/libdwfl.h>
#define VERSION_OF_LIBDW dwfl_version(NULL)
#else
#define VERSION_OF_LIBDW ABSENT
#endif
#ifdef HEDDLE_HAVE_MICROHTTPD
#include <microhttpd.h>
#define VERSION_OF_MICROHTTPD MHD_get_version()
#else
#define VERSION_OF_MICROHTTPD ABSENT
#endif
#ifdef HEDDLE_HAVE_CMARK
#include <cmark-gfm.h>
#define VERSION_OF_CMARK cmark_version_string()
#else
#define VERSION_OF_CMARK ABSENT
#endif

#include "build_facts.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "device/module.h"
#include "heddle/device.h"
#include "heddle/heddle.h"

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
    add(all, "zlib", zlibVersion());
    add(all, "cJSON", cJSON_Version());
    add(all, "OpenBLAS", VERSION_OF_OPENBLAS);
    add(all, "FFTW", VERSION_OF_FFTW);
    add(all, "libcurl", VERSION_OF_CURL);
    add(all, "libcrypto", VERSION_OF_CRYPTO);
    add(all, "libpng", VERSION_OF_PNG);
    add(all, "libjpeg", VERSION_OF_JPEG);
    add(all, "libdw", VERSION_OF_LIBDW);
    add(all, "protobuf-c", VERSION_OF_PROTOBUF);
    add(all, "libmicrohttpd", VERSION_OF_MICROHTTPD);
    add(all, "cmark-gfm", VERSION_OF_CMARK);
    add(all, "CodeMirror", HEDDLE_CODEMIRROR[0] ? HEDDLE_CODEMIRROR : ABSENT);
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
