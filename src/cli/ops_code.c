// What the compiler makes of a rung: nvcc compiles its file as the build does, and each instruction is shown below the
// source line that it comes from. nvcc runs its tools through a shell, so everything that it is given has a name that
// we made: it works in a folder of ours, where `heddle` is a link to the sources.

#include "cli/ops_code.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/place.h"
#include "base/table.h"
#include "base/text.h"
#include "bench/listing.h"
#include "check/child.h"
#include "check/folder.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/ops.h"
#include "ops/registry.h"

enum { LARGEST_OUTPUT = 256 << 20, LARGEST_SOURCE = 16 << 20, MODE = 0600, FEW = 3, MOST_NAMES = 4096, WORD_SIZE = 64 };

static const double longest = 600; // seconds
static const char link_name[] = "heddle", usual_architecture[] = HEDDLE_CLI_USUAL_ARCHITECTURE;

typedef struct ops_code {
    const heddle_cli_ops_code *wanted;
    const heddle_op *op;
    const heddle_rung *rung;
    char root[PATH_MAX]; // of the sources
    char file[PATH_MAX]; // below it
    heddle_check_folder folder;
    heddle_listing *listing;
} ops_code;

// --- which file ------------------------------------------------------------------------------------------------------

static heddle_status find_rung(ops_code *code, const char *name)
{
    const char *slash = strchr(name, '/');
    char op_name[WORD_SIZE];
    bool known = false;
    snprintf(op_name, sizeof op_name, "%.*s", slash ? (int)(slash - name) : (int)strlen(name), name);
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        if (!heddle_cli_op_is_called(op, op_name))
            continue;
        known = true;
        for (int r = 0; slash && r < op->rungs && !code->rung; r++)
            if (strcmp(op->ladder[r].name, slash + 1) == 0) {
                code->op = op;
                code->rung = &op->ladder[r];
            }
    }
    if (!known)
        return heddle_cli_unknown_op(op_name, NULL);
    if (!slash)
        return heddle_fail(HEDDLE_INVALID, "name a rung, as in %s/01_naive; `heddle ops %s` lists them", op_name,
                           op_name);
    if (!code->rung)
        return heddle_fail(HEDDLE_INVALID, "%s has no rung '%s'; `heddle ops %s` lists them", op_name, slash + 1,
                           op_name);
    if (code->rung->device != HEDDLE_CUDA)
        return heddle_fail(HEDDLE_INVALID, "%s is a rung for the %s device; only those for cuda are compiled by nvcc",
                           code->rung->name, heddle_device_kind_name(code->rung->device));
    return HEDDLE_OK;
}

static bool is_root(const char *folder, char root[PATH_MAX])
{
    char path[PATH_MAX + 32];
    if (!realpath(folder, root))
        return false;
    snprintf(path, sizeof path, "%s/src/ops/registry.c", root);
    return heddle_file_exists(path);
}

// Where --source says; above the program, which is in a build folder; the working folder.
static heddle_status find_root(ops_code *code)
{
    char own[HEDDLE_PLACE_SIZE], above[HEDDLE_PLACE_SIZE + 4];
    if (code->wanted->source)
        return is_root(code->wanted->source, code->root)
                   ? HEDDLE_OK
                   : heddle_fail(HEDDLE_INVALID, "--source %s: not a folder with heddle's sources",
                                 code->wanted->source);
    heddle_own_folder(own);
    snprintf(above, sizeof above, "%s/..", own);
    if (is_root(above, code->root) || is_root(".", code->root))
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_MISSING, "heddle's sources are not on this machine, or not found; name their folder with "
                                       "--source DIR");
}

// Whether src/ops/LADDER/RUNG.cu is there, and what it holds.
static bool read_file(ops_code *code, const char *ladder, char **text)
{
    char whole[2 * PATH_MAX];
    size_t size = 0;
    snprintf(code->file, sizeof code->file, "src/ops/%s/%s.cu", ladder, code->rung->name);
    snprintf(whole, sizeof whole, "%s/%s", code->root, code->file);
    return heddle_file_exists(whole) && heddle_file_read(whole, LARGEST_SOURCE, text, &size) == HEDDLE_OK;
}

// A rung is a file of its name in its ladder's folder, or in that of a ladder which shares its kernels and names it.
static heddle_status find_file(ops_code *code)
{
    char quoted[WORD_SIZE + 2], *text = NULL;
    HEDDLE_TRY(find_root(code));
    bool found = read_file(code, code->op->ladder_name, &text);
    snprintf(quoted, sizeof quoted, "\"%s\"", code->op->name);
    for (int i = 0; i < heddle_op_count() && !found; i++) {
        free(text);
        text = NULL;
        found = read_file(code, heddle_op_at(i)->ladder_name, &text) && strstr(text, quoted);
    }
    const bool library = code->rung->tier == HEDDLE_VENDOR && !(found && strstr(text, "__global__"));
    free(text);
    if (library)
        return heddle_fail(HEDDLE_INVALID, "%s calls a library, whose kernels are not in heddle's sources",
                           code->rung->name);
    return found ? HEDDLE_OK
                 : heddle_fail(HEDDLE_NOT_FOUND, "no file in %s/src/ops is rung %s", code->root, code->rung->name);
}

// --- compiling -------------------------------------------------------------------------------------------------------

// Runs a program in our folder; what it prints goes to two files there.
static heddle_status run(ops_code *code, const char *const *argv, const char *output, const char *errors)
{
    char path[PATH_MAX];
    const char *const names[] = {output, errors};
    int files[2];
    for (int i = 0; i < 2; i++)
        files[i] = open(heddle_check_folder_path(&code->folder, names[i], path, sizeof path),
                        O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, MODE);
    const heddle_child_options options = {.argv = (char *const *)argv,
                                          .folder = code->folder.path,
                                          .input = -1,
                                          .output = files[0],
                                          .errors = files[1],
                                          .seconds = longest,
                                          .stop = &heddle_cli_interrupted};
    heddle_child child = {.process = -1};
    heddle_status status = heddle_child_start(&child, &options);
    if (status == HEDDLE_OK)
        heddle_child_wait(&child, -1);
    for (int i = 0; i < 2; i++)
        if (files[i] >= 0)
            close(files[i]);
    if (status != HEDDLE_OK)
        return status;
    if (child.end == HEDDLE_CHILD_STOPPED)
        return heddle_fail(HEDDLE_INTERRUPTED, "stopped");
    return child.end == HEDDLE_CHILD_EXITED && child.code == 0 ? HEDDLE_OK : HEDDLE_CORRUPT;
}

static heddle_status read_text(const ops_code *code, const char *name, char **text)
{
    char path[PATH_MAX];
    size_t size = 0;
    return heddle_file_read(heddle_check_folder_path(&code->folder, name, path, sizeof path), LARGEST_OUTPUT, text,
                            &size);
}

// nvcc's own words, and which command failed.
static heddle_status compiler_failed(const ops_code *code, const char *errors)
{
    char *text = NULL;
    if (read_text(code, errors, &text) == HEDDLE_OK)
        fprintf(stderr, "%s", text);
    free(text);
    const bool usual = strcmp(code->wanted->architecture, usual_architecture) == 0;
    return heddle_fail(HEDDLE_CORRUPT, "nvcc cannot compile %s for %s: its messages are above%s%s", code->file,
                       code->wanted->architecture, usual ? "" : "; every rung compiles for ",
                       usual ? "" : usual_architecture);
}

static heddle_status compile(ops_code *code)
{
    char nvcc[HEDDLE_PLACE_SIZE], link[PATH_MAX], source[PATH_MAX + 16], architecture[WORD_SIZE];
    if (!heddle_find_nvcc(nvcc))
        return heddle_fail(HEDDLE_MISSING, "nvcc not found: install the CUDA toolkit, or add its bin folder to PATH");
    if (symlink(code->root, heddle_check_folder_path(&code->folder, link_name, link, sizeof link)) != 0)
        return heddle_fail(HEDDLE_IO, "%s: %s", link, strerror(errno));
    snprintf(source, sizeof source, "%s/%s", link_name, code->file);
    snprintf(architecture, sizeof architecture, "-arch=%s", code->wanted->architecture);
    const char *const argv[] = {nvcc,
                                "-std=c++17",
                                "-O3",
                                "-lineinfo",
                                "-w",
                                architecture,
                                "-I",
                                "heddle/src",
                                "-I",
                                "heddle/include",
                                code->wanted->sass ? "-cubin" : "-ptx",
                                "-Xptxas",
                                "-v",
                                "-o",
                                code->wanted->sass ? "code.cubin" : "code.ptx",
                                source,
                                NULL};
    const heddle_status status = run(code, argv, "nvcc.out", "nvcc.err");
    return status == HEDDLE_CORRUPT ? compiler_failed(code, "nvcc.err") : status;
}

static heddle_status disassemble(ops_code *code)
{
    char nvdisasm[HEDDLE_PLACE_SIZE];
    if (!heddle_find_program("nvdisasm", "/usr/local/cuda/bin", nvdisasm))
        return heddle_fail(HEDDLE_MISSING,
                           "nvdisasm not found: it is in the CUDA toolkit (package cuda-nvdisasm); --ptx "
                           "does without");
    const char *const argv[] = {nvdisasm, "-c", "-g", "code.cubin", NULL};
    const heddle_status status = run(code, argv, "code.sass", "nvdisasm.err");
    return status == HEDDLE_CORRUPT
               ? heddle_fail(HEDDLE_CORRUPT, "nvdisasm cannot read what nvcc made of %s", code->file)
               : status;
}

// With template arguments, where binutils are installed.
static void name_functions(ops_code *code)
{
    char demangler[HEDDLE_PLACE_SIZE], *names = NULL;
    const char *argv[MOST_NAMES + 3] = {demangler, "-p"};
    int count = 2;
    if (!heddle_find_program("c++filt", "/usr/bin", demangler))
        return;
    for (int i = 0; i < code->listing->count && count < MOST_NAMES; i++)
        argv[count++] = code->listing->function[i].symbol;
    if (run(code, argv, "names", "names.err") == HEDDLE_OK && read_text(code, "names", &names) == HEDDLE_OK)
        heddle_listing_add_names(code->listing, names);
    free(names);
}

static heddle_status make_listing(ops_code *code)
{
    char *text = NULL, *said = NULL;
    HEDDLE_TRY(compile(code));
    if (code->wanted->sass)
        HEDDLE_TRY(disassemble(code));
    HEDDLE_TRY(read_text(code, code->wanted->sass ? "code.sass" : "code.ptx", &text));
    code->listing = code->wanted->sass ? heddle_listing_of_sass(text) : heddle_listing_of_ptx(text);
    free(text);
    if (!code->listing)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for the listing of %s", code->file);
    if (read_text(code, "nvcc.err", &said) == HEDDLE_OK)
        heddle_listing_add_usage(code->listing, said);
    free(said);
    name_functions(code);
    return HEDDLE_OK;
}

// --- showing ---------------------------------------------------------------------------------------------------------

// The file that was read last: lines of one file mostly follow each other.
typedef struct source_text {
    char path[PATH_MAX];
    char *text;
} source_text;

static const char *line_of(source_text *source, const char *path, int number, int *length)
{
    size_t size = 0;
    if (strcmp(source->path, path) != 0) {
        free(source->text);
        source->text = NULL;
        snprintf(source->path, sizeof source->path, "%s", path);
        if (heddle_file_read(path, LARGEST_SOURCE, &source->text, &size) != HEDDLE_OK)
            source->text = NULL;
    }
    const char *at = source->text;
    for (int i = 1; at && i < number; i++) {
        at = strchr(at, '\n');
        at += at != NULL;
    }
    *length = at ? (int)strcspn(at, "\n") : 0;
    return at ? at : "";
}

// "matmul/tuned.h" for what is below src/ops; otherwise the file's own name.
static const char *short_path(const char *path)
{
    const char *ops = strstr(path, "/src/ops/"), *slash = strrchr(path, '/');
    return ops ? ops + strlen("/src/ops/") : slash ? slash + 1 : path;
}

static bool is_shown(const ops_code *code, const heddle_listing_function *function)
{
    const char *part = code->wanted->kernel;
    return part ? strstr(function->name, part) != NULL || strstr(function->symbol, part) != NULL
                : code->listing->count <= FEW;
}

static heddle_status print_table(const ops_code *code)
{
    const bool usage = code->wanted->sass;
    heddle_table *table = heddle_table_create();
    heddle_table_column(table, "kernel", HEDDLE_LEFT);
    heddle_table_column(table, "instructions", HEDDLE_RIGHT);
    if (usage) {
        heddle_table_column(table, "registers", HEDDLE_RIGHT);
        heddle_table_column(table, "shared bytes", HEDDLE_RIGHT);
        heddle_table_column(table, "stack bytes", HEDDLE_RIGHT);
        heddle_table_column(table, "spilled bytes", HEDDLE_RIGHT);
    }
    for (int i = 0; i < code->listing->count; i++) {
        const heddle_listing_function *one = &code->listing->function[i];
        heddle_table_cell(table, "%s%s", one->name, one->kernel ? "" : " (function)");
        heddle_table_cell(table, "%d", one->instructions);
        const int values[] = {one->registers, one->shared_bytes, one->stack_bytes,
                              one->spill_stores + one->spill_loads};
        for (size_t v = 0; usage && v < sizeof values / sizeof *values; v++)
            if (one->has_usage)
                heddle_table_cell(table, "%d", values[v]);
            else
                heddle_table_cell(table, "%s", "");
    }
    return heddle_table_finish(table, stdout);
}

static void print_function(const ops_code *code, const heddle_listing_function *function)
{
    source_text source = {.path = ""};
    const char *file = NULL;
    int number = 0;
    printf("\n%s\n", function->name);
    for (int i = 0; i < function->count; i++) {
        const heddle_listing_line *line = &function->line[i];
        if (line->file && (!file || strcmp(line->file, file) != 0 || line->number != number)) {
            int length;
            const char *text = line_of(&source, line->file, line->number, &length);
            const char *own = strstr(line->file, code->file); // otherwise of a header
            printf("%s%s%d | %.*s\n", own ? "" : short_path(line->file), own ? "" : ":", line->number, length, text);
            file = line->file;
            number = line->number;
        }
        printf(line->label ? "    %s\n" : "        %s\n", line->text);
    }
    free(source.text);
}

static cJSON *function_json(const ops_code *code, const heddle_listing_function *function)
{
    cJSON *one = cJSON_CreateObject();
    cJSON_AddStringToObject(one, "name", function->name);
    cJSON_AddStringToObject(one, "symbol", function->symbol);
    cJSON_AddBoolToObject(one, "kernel", function->kernel);
    cJSON_AddNumberToObject(one, "instructions", function->instructions);
    if (function->has_usage) {
        cJSON_AddNumberToObject(one, "registers", function->registers);
        cJSON_AddNumberToObject(one, "shared_bytes", function->shared_bytes);
        cJSON_AddNumberToObject(one, "stack_bytes", function->stack_bytes);
        cJSON_AddNumberToObject(one, "spill_store_bytes", function->spill_stores);
        cJSON_AddNumberToObject(one, "spill_load_bytes", function->spill_loads);
    }
    cJSON *lines = is_shown(code, function) ? cJSON_AddArrayToObject(one, "code") : NULL;
    for (int i = 0; lines && i < function->count; i++) {
        const heddle_listing_line *line = &function->line[i];
        cJSON *row = cJSON_CreateObject();
        if (line->file) {
            cJSON_AddStringToObject(row, "file", short_path(line->file));
            cJSON_AddNumberToObject(row, "line", line->number);
        }
        cJSON_AddStringToObject(row, line->label ? "label" : "instruction", line->text);
        cJSON_AddItemToArray(lines, row);
    }
    return one;
}

static cJSON *to_json(const ops_code *code)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "op", code->op->name);
    cJSON_AddStringToObject(json, "rung", code->rung->name);
    cJSON_AddStringToObject(json, "file", code->file);
    cJSON_AddStringToObject(json, "architecture", code->wanted->architecture);
    cJSON_AddStringToObject(json, "form", code->wanted->sass ? "sass" : "ptx");
    cJSON *functions = cJSON_AddArrayToObject(json, "functions");
    for (int i = 0; i < code->listing->count; i++)
        cJSON_AddItemToArray(functions, function_json(code, &code->listing->function[i]));
    return json;
}

static heddle_status show(const ops_code *code)
{
    int shown = 0;
    for (int i = 0; i < code->listing->count; i++)
        shown += is_shown(code, &code->listing->function[i]);
    if (code->wanted->kernel && shown == 0)
        return heddle_fail(HEDDLE_INVALID, "--kernel %s: no kernel of %s has that in its name", code->wanted->kernel,
                           code->file);
    if (code->wanted->json.print)
        return HEDDLE_OK;
    printf("%s, compiled for %s\n\n", code->file, code->wanted->architecture);
    HEDDLE_TRY(print_table(code));
    for (int i = 0; i < code->listing->count; i++)
        if (is_shown(code, &code->listing->function[i]))
            print_function(code, &code->listing->function[i]);
    if (shown == 0)
        printf("\n--kernel TEXT shows the code of those that have TEXT in their name.\n");
    return HEDDLE_OK;
}

// --- the command -----------------------------------------------------------------------------------------------------

// "sm_90", "sm_90a": a word that a shell takes as it is.
static bool is_architecture(const char *text)
{
    static const char prefix[] = "sm_";
    const char *digits = text + strlen(prefix);
    if (strncmp(text, prefix, strlen(prefix)) != 0 || !isdigit((unsigned char)*digits) || strlen(text) >= WORD_SIZE / 2)
        return false;
    digits += strspn(digits, "0123456789");
    return *digits == '\0' || (islower((unsigned char)*digits) && digits[1] == '\0');
}

int heddle_cli_ops_code_show(const char *name, const heddle_cli_ops_code *wanted)
{
    ops_code code = {.wanted = wanted};
    heddle_cli_stop_gently(&(heddle_cli_gently){0}); // so that no folder and no compiler is left behind
    heddle_status status =
        is_architecture(wanted->architecture)
            ? HEDDLE_OK
            : heddle_fail(HEDDLE_INVALID, "--arch takes a name such as sm_90a, not '%s'", wanted->architecture);
    if (status == HEDDLE_OK)
        status = find_rung(&code, name);
    if (status == HEDDLE_OK)
        status = find_file(&code);
    if (status == HEDDLE_OK)
        status = heddle_check_folder_create(&code.folder, false);
    if (status == HEDDLE_OK)
        status = make_listing(&code);
    if (status == HEDDLE_OK)
        status = show(&code);
    const int exit_code =
        status == HEDDLE_OK ? heddle_cli_json_exit(&wanted->json, to_json(&code)) : heddle_cli_fail(status);
    heddle_listing_free(code.listing);
    if (code.folder.path[0])
        heddle_check_folder_release(&code.folder);
    return exit_code;
}
