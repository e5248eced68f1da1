// Runs a person's reference, a Python function over NumPy arrays, contained like the program. Floating-point tensors
// are float64 there, so that the reference is more exact than the kernel.

#include "check/extension_reference.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/place.h"
#include "base/text.h"

enum { NO_NUMPY = 90, MOST_SAID = 1 << 16 };

// A string of Python.
static void print_string(const char *text, FILE *file)
{
    fputc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fputc('\\', file);
        fputc(*c, file);
    }
    fputc('"', file);
}

static const char program[] =
    "import importlib.util, inspect, os, sys, traceback\n"
    "try:\n"
    "    import numpy\n"
    "except ImportError as error:\n"
    "    print(error, file=sys.stderr)\n"
    "    sys.exit(90)\n"
    "\n"
    "def fail(text):\n"
    "    print(' '.join(str(text).split()), file=sys.stderr)\n"
    "    sys.exit(1)\n"
    "\n"
    "def load(path, kind, shape):\n"
    "    if kind == 'bfloat16':\n"
    "        bits = numpy.fromfile(path, 'uint16').astype('uint32') << 16\n"
    "        values = bits.view('float32')\n"
    "    else:\n"
    "        values = numpy.fromfile(path, kind)\n"
    "    values = values.reshape(shape)\n"
    "    return values.astype('float64') if values.dtype.kind == 'f' else values\n"
    "\n"
    "values = {name: load(*what) if isinstance(what, tuple) else what for name, what in inputs.items()}\n"
    "sys.path.insert(0, os.path.dirname(script))\n"
    "try:\n"
    "    spec = importlib.util.spec_from_file_location('heddle_reference', script)\n"
    "    module = importlib.util.module_from_spec(spec)\n"
    "    spec.loader.exec_module(module)\n"
    "    function = getattr(module, name)\n"
    "    try:\n"
    "        parameters = inspect.signature(function).parameters\n"
    "    except ValueError:\n"
    "        parameters = values\n"
    "    if not any(one.kind == one.VAR_KEYWORD for one in parameters.values() if parameters is not values):\n"
    "        values = {key: value for key, value in values.items() if key in parameters}\n"
    "    result = function(**values)\n"
    "except SystemExit:\n"
    "    fail('it ended the process')\n"
    "except BaseException as error:\n"
    "    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == script]\n"
    "    where = f', line {frames[-1].lineno}' if frames else ''\n"
    "    fail(f'{type(error).__name__}: {error}{where}')\n"
    "if isinstance(result, dict):\n"
    "    missing = [key for key, _, _ in outputs if key not in result]\n"
    "    if missing:\n"
    "        fail(f'it returned no {missing[0]}')\n"
    "    results = [result[key] for key, _, _ in outputs]\n"
    "elif isinstance(result, (tuple, list)) and (len(outputs) > 1 or len(result) == 1):\n"
    "    results = list(result)\n"
    "else:\n"
    "    results = [result]\n"
    "if len(results) != len(outputs):\n"
    "    fail(f'it returned {len(results)} arrays for {len(outputs)} outputs')\n"
    "for (key, path, shape), value in zip(outputs, results):\n"
    "    value = numpy.asarray(value)\n"
    "    if value.dtype.kind not in 'fiub':\n"
    "        fail(f'{key} is not an array of numbers')\n"
    "    if value.shape != shape:\n"
    "        fail(f'{key} has the shape {value.shape}, and --args says {shape}')\n"
    "    kind = {'f': 'float64', 'u': 'uint64'}.get(value.dtype.kind, 'int64')\n" // whole numbers stay exact
    "    with open(path, 'wb') as file:\n"
    "        numpy.save(file, numpy.ascontiguousarray(value, kind))\n";

static void print_shape(const heddle_check_argument *one, FILE *file)
{
    fprintf(file, "(");
    for (int d = 0; d < one->rank; d++)
        fprintf(file, "%lld, ", (long long)one->dims[d]);
    fprintf(file, ")");
}

static void print_input(const heddle_check_folder *folder, const heddle_check_argument *one, int number, FILE *file)
{
    char path[1024];
    print_string(one->name, file);
    fprintf(file, ": ");
    if (one->role == HEDDLE_CHECK_NULL) {
        fprintf(file, "None, ");
    } else if (one->role == HEDDLE_CHECK_NUMBER && one->is_whole) {
        fprintf(file, "%lld, ", one->whole);
    } else if (one->role == HEDDLE_CHECK_NUMBER) {
        fprintf(file, "float(\"%.17g\"), ", one->number);
    } else {
        fprintf(file, "(");
        print_string(heddle_check_extension_path(folder, number, "in", path, sizeof path), file);
        fprintf(file, ", \"%s\", ", heddle_npy_name(one->type));
        print_shape(one, file);
        fprintf(file, "), ");
    }
}

static bool is_output(const heddle_check_argument *one)
{
    return one->role == HEDDLE_CHECK_OUT || one->role == HEDDLE_CHECK_INOUT;
}

static void print_script(const heddle_check_extension *extension, const heddle_check_folder *folder, FILE *file)
{
    char path[1024];
    fprintf(file, "inputs = {");
    for (int i = 0; i < extension->count; i++)
        if (extension->arguments[i]->role != HEDDLE_CHECK_OUT)
            print_input(folder, extension->arguments[i], i, file);
    fprintf(file, "}\noutputs = [");
    // In the order of the line, which is the order in which a person thinks of them.
    for (int g = 0; g < extension->given.count; g++)
        for (int i = 0; i < extension->count; i++) {
            const heddle_check_argument *one = extension->arguments[i];
            if (one != &extension->given.at[g] || !is_output(one))
                continue;
            fprintf(file, "(\"%s\", ", one->name);
            print_string(heddle_check_extension_path(folder, i, "expected", path, sizeof path), file);
            fprintf(file, ", ");
            print_shape(one, file);
            fprintf(file, "), ");
        }
    fprintf(file, "]\nscript = ");
    print_string(extension->script, file);
    fprintf(file, "\nname = ");
    print_string(extension->function, file);
    fprintf(file, "\n%s", program);
}

// The end of a file, to be freed; NULL: it cannot be read. *cut: it begins earlier.
static char *read_end(const char *path, bool *cut)
{
    FILE *file = fopen(path, "re");
    char *text = file ? malloc(MOST_SAID + 1) : NULL;
    size_t length = 0;
    *cut = file && fseeko(file, -(off_t)MOST_SAID, SEEK_END) == 0 && ftello(file) > 0; // a shorter file is not moved in
    if (text)
        length = fread(text, 1, MOST_SAID, file);
    for (size_t i = 0; text && i <= length; i++)
        text[i] = i == length ? '\0' : text[i] ? text[i] : '?';
    if (file)
        fclose(file);
    return text;
}

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

// A long line loses its middle: an exception has its name in front and its place at the end. A line whose front was
// not read has lost it already.
static void shorten(const char *line, bool has_front, char *text, size_t size)
{
    const size_t length = strlen(line);
    size_t front = has_front ? size / 3 : 0, end = length > size / 2 ? length - size / 2 : 0;
    if (has_front && length < size) {
        snprintf(text, size, "%s", line);
        return;
    }
    while (front > 0 && continues_character(line[front]))
        front--;
    while (continues_character(line[end]))
        end++;
    if (has_front)
        snprintf(text, size, "%.*s ... (%zu bytes left out) ... %s", (int)front, line, end - front, line + end);
    else
        snprintf(text, size, "(the start is left out) ... %s", line + end);
}

// The last line that the script printed on standard error, however much it printed, in one line.
static const char *last_words(const char *path, char *text, size_t size)
{
    bool cut = false;
    char *said = read_end(path, &cut);
    text[0] = '\0';
    if (!said)
        return text;
    for (size_t length = strlen(said); length > 0 && said[length - 1] == '\n'; length--)
        said[length - 1] = '\0';
    const char *last = strrchr(said, '\n');
    shorten(last ? last + 1 : said, last || !cut, text, size);
    heddle_text_one_line(text);
    free(said);
    return text;
}

static heddle_status judge(const heddle_check_state *state, const heddle_child *child, const char *said)
{
    char words[512];
    const char *reference = state->options->reference;
    last_words(said, words, sizeof words);
    switch (child->end) {
    case HEDDLE_CHILD_EXITED: break;
    case HEDDLE_CHILD_STOPPED: return heddle_fail(HEDDLE_INTERRUPTED, "interrupted");
    case HEDDLE_CHILD_TIMED_OUT:
        return heddle_fail(HEDDLE_INVALID, "--reference %s: it took longer than --timeout", reference);
    case HEDDLE_CHILD_TOO_LARGE:
        return heddle_fail(HEDDLE_INVALID, "--reference %s: it took more than --memory", reference);
    case HEDDLE_CHILD_RUNNING:
    case HEDDLE_CHILD_SIGNALLED:
        return heddle_fail(HEDDLE_INVALID, "--reference %s: it crashed (%s)", reference,
                           heddle_child_signal_name(child->code));
    }
    if (child->code == NO_NUMPY)
        return heddle_fail(HEDDLE_MISSING,
                           "--reference %s needs NumPy (%s): install python3-numpy, or give a .npy file", reference,
                           words);
    if (child->code != 0)
        return heddle_fail(HEDDLE_INVALID, "--reference %s: %s", reference, words[0] ? words : "it failed");
    return HEDDLE_OK;
}

// What it should be is kept where the program that is checked cannot change it.
static heddle_status keep_expected(const heddle_check_state *state)
{
    const heddle_check_extension *extension = &state->extension;
    for (int i = 0; i < extension->count; i++) {
        char from[1024], to[1024];
        if (!is_output(extension->arguments[i]))
            continue;
        heddle_check_extension_path(&state->folder, i, "expected", from, sizeof from);
        heddle_check_extension_path(&state->outer, i, "expected", to, sizeof to);
        if (rename(from, to) != 0)
            return heddle_fail(HEDDLE_IO, "%s: %s", from, strerror(errno));
    }
    return HEDDLE_OK;
}

// *code: the exit status of the script; -1: it has none.
static heddle_status run(heddle_check_state *state, const char *python, const char *script, const char *said, int *code)
{
    const heddle_check_options *options = state->options;
    char *const words[] = {(char *)python, "-B", (char *)script, NULL};
    char temporary[1100];
    const char *const environment[] = {temporary, NULL};
    heddle_child child = {.process = -1};
    int errors = open(said, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (errors < 0)
        return heddle_fail(HEDDLE_IO, "%s: %s", said, strerror(errno));
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", state->folder.path);
    heddle_sandbox sandbox = {.rules = -1, .filter_file = -1};
    const char *const folders[] = {options->folder ? options->folder : ".", state->folder.path, NULL};
    const int files[] = {errors, -1};
    heddle_status status = options->sandbox ? heddle_sandbox_open(&sandbox, folders, files) : HEDDLE_OK;
    heddle_child_options how = {
        .argv = words,
        .environment = environment,
        .folder = options->folder,
        .input = -1,
        .output = -1,
        .errors = errors,
        .seconds = options->seconds,
        .memory = options->memory ? options->memory : heddle_child_usual_memory(),
        .sandbox = options->sandbox ? &sandbox : NULL,
        .stop = state->stop,
    };
    if (status == HEDDLE_OK)
        status = heddle_child_start(&child, &how);
    if (status == HEDDLE_OK)
        heddle_child_wait(&child, -1);
    close(errors);
    heddle_sandbox_close(&sandbox);
    HEDDLE_TRY(status);
    *code = child.end == HEDDLE_CHILD_EXITED ? child.code : -1;
    heddle_check_folder_clean(&state->folder); // before anything the script may have put there is opened
    HEDDLE_TRY(judge(state, &child, said));
    return keep_expected(state);
}

heddle_status heddle_check_extension_reference(heddle_check_state *state)
{
    char python[HEDDLE_PLACE_SIZE], script[HEDDLE_CHECK_PATH], said[HEDDLE_CHECK_PATH];
    if (!state->extension.script)
        return HEDDLE_OK;
    if (!heddle_find_program("python3", "", python))
        return heddle_fail(HEDDLE_MISSING,
                           "--reference %s needs python3 with NumPy: install python3-numpy, or give a "
                           ".npy file",
                           state->options->reference);
    heddle_check_folder_path(&state->outer, "reference.py", script, sizeof script);
    heddle_check_folder_path(&state->outer, "reference.txt", said, sizeof said);
    FILE *file = fopen(script, "we");
    if (!file)
        return heddle_fail(HEDDLE_IO, "%s: %s", script, strerror(errno));
    print_script(&state->extension, &state->folder, file);
    if (fclose(file) != 0)
        return heddle_fail(HEDDLE_IO, "%s: %s", script, strerror(errno));
    int code = 0;
    heddle_status status = run(state, python, script, said, &code);
    // A Python of one's own may be without NumPy where the system's has it.
    static const char system[] = "/usr/bin/python3";
    return code == NO_NUMPY && heddle_file_exists(system) ? run(state, system, script, said, &code) : status;
}
