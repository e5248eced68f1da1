// JSON: cJSON does the parsing, this says where and what is wrong. Writing lays documents out in rows.

#include "base/json.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/terminal.h"

enum {
    LARGEST_FILE = 64 << 20, // far above any model file; keeps a wrong path from filling memory
    NUMBER_SIZE = 32,        // a double as text
    PLACE_SIZE = 256,        // where in a document something is wrong
    SHOWN_KEY = 60,          // characters of a key that a message shows
};

static const double largest_exact = 0x1p53; // cJSON keeps numbers as doubles

// cJSON notes the last error in a variable that all threads share.
static pthread_mutex_t parser = PTHREAD_MUTEX_INITIALIZER;

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static heddle_status fail_at(const char *what, const char *text, const char *where, const char *problem)
{
    int line = 1;
    int column = 1;
    for (const char *c = text; c < where; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    return heddle_fail(HEDDLE_CORRUPT, "%s: line %d, column %d: %s", what, line, column, problem);
}

static char before(const char *text, const char *where)
{
    while (where > text && is_space(where[-1]))
        where--;
    return where > text ? where[-1] : '\0';
}

// Where it is wrong: cJSON stops one character late if that is not the quote that begins a key.
static const char *find_mistake(const char *text, const char *stop)
{
    if (stop == text || stop[-1] == '\0')
        return stop;
    const char last = before(text, stop - 1);
    bool begins = isalpha((unsigned char)stop[-1]) || strchr("}'/#", stop[-1]);
    return begins && (last == ',' || last == '{') ? stop - 1 : stop;
}

// How many brackets are open there; brackets in texts, which count too, matter little for what is too deep.
static int depth_at(const char *text, const char *where)
{
    int depth = 0;
    for (const char *c = text; c < where; c++)
        depth += (*c == '[' || *c == '{') - (*c == ']' || *c == '}');
    return depth;
}

// What people write that is not JSON; NULL: something else.
static const char *name_mistake(const char *text, const char *end, const char *where)
{
    static const char *const words[] = {"True", "False", "None"}, *const numbers[] = {"NaN", "nan",  "Inf",
                                                                                      "inf", "-Inf", "-inf"};
    const char last = before(text, where);
    if (where >= end || *where == '\0')
        return NULL;
    if ((*where == '}' || *where == ']') && last == ',')
        return "invalid JSON: remove the comma before the closing bracket";
    if (*where == '/' || *where == '#')
        return "invalid JSON: comments are not allowed";
    if (*where == '\'')
        return "invalid JSON: text needs double quotes";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((size_t)(end - where) >= strlen(words[i]) && strncmp(where, words[i], strlen(words[i])) == 0)
            return "invalid JSON: write true, false or null";
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if ((size_t)(end - where) >= strlen(numbers[i]) && strncmp(where, numbers[i], strlen(numbers[i])) == 0)
            return "invalid JSON: NaN and Infinity are not allowed";
    if (strchr("[{", *where) && depth_at(text, where) >= CJSON_NESTING_LIMIT)
        return "invalid JSON: lists and objects are nested too deep";
    if (isalpha((unsigned char)*where) && (last == ',' || last == '{'))
        return "invalid JSON: keys and text need double quotes";
    if (strchr("\"{[", *where) && last && strchr("\"}]", last))
        return "invalid JSON: a comma is missing before this";
    return NULL;
}

// --- keys -----------------------------------------------------------------------------------------------------------

static int compare_keys(const void *left, const void *right)
{
    return strcmp((*(const cJSON *const *)left)->string, (*(const cJSON *const *)right)->string);
}

const cJSON **heddle_json_sorted(const cJSON *object, int *count)
{
    *count = cJSON_IsObject(object) ? cJSON_GetArraySize(object) : 0;
    const cJSON **entries = calloc((size_t)*count + 1, sizeof *entries);
    const cJSON *next = object->child;
    for (int i = 0; entries && i < *count; i++, next = next->next)
        entries[i] = next;
    if (entries)
        qsort(entries, (size_t)*count, sizeof *entries, compare_keys);
    return entries;
}

static int shown_bytes(const char *key)
{
    return (int)heddle_text_prefix(key, SHOWN_KEY);
}

// Adds where `item` is to a place that was found within it: entry 2 of "layers".
static void add_place(char place[PLACE_SIZE], const char *list, int entry, const cJSON *item)
{
    size_t used = strlen(place);
    if (list)
        snprintf(place + used, PLACE_SIZE - used, " in entry %d of \"%.*s\"", entry, shown_bytes(list), list);
    else if (item->string && !cJSON_IsArray(item)) // whose entries have named it
        snprintf(place + used, PLACE_SIZE - used, " in \"%.*s\"", shown_bytes(item->string), item->string);
}

// cJSON keeps both of two equal keys and finds the first. `place` says which key it is, and where.
static heddle_status find_repeated_key(const char *what, const cJSON *json, char place[PLACE_SIZE], bool *found)
{
    int count, entry = 0;
    const cJSON **sorted = heddle_json_sorted(json, &count);
    if (!sorted)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to sort its keys", what);
    for (int i = 1; i < count && !*found; i++) {
        const char *key = sorted[i]->string;
        *found = strcmp(sorted[i - 1]->string, key) == 0;
        if (*found)
            snprintf(place, PLACE_SIZE, "\"%.*s\" is given twice", shown_bytes(key), key);
    }
    free(sorted);
    for (const cJSON *child = json->child; child && !*found; child = child->next) {
        bool within = false;
        entry++;
        if (child->child)
            HEDDLE_TRY(find_repeated_key(what, child, place, &within));
        if (within)
            add_place(place, cJSON_IsArray(json) ? json->string : NULL, entry, child);
        *found = within;
    }
    return HEDDLE_OK;
}

static heddle_status check_keys(const char *what, const cJSON *json)
{
    char place[PLACE_SIZE] = "";
    bool found = false;
    HEDDLE_TRY(find_repeated_key(what, json, place, &found));
    return found ? heddle_fail(HEDDLE_CORRUPT, "%s: %s", what, place) : HEDDLE_OK;
}

// --- reading --------------------------------------------------------------------------------------------------------

heddle_status heddle_json_parse(const char *what, const char *text, size_t size, cJSON **json)
{
    *json = NULL;
    if (size == 0)
        return heddle_fail(HEDDLE_CORRUPT, "%s: empty, expected JSON", what);
    const char *stop = text;
    pthread_mutex_lock(&parser);
    cJSON *parsed = cJSON_ParseWithLengthOpts(text, size, &stop, false);
    pthread_mutex_unlock(&parser);
    if (stop < text || stop > text + size)
        stop = text + size;
    if (!parsed) {
        const char *where = find_mistake(text, stop), *mistake = name_mistake(text, text + size, where);
        if (!mistake)
            mistake = where >= text + size - 1 ? "the JSON ends unexpectedly" : "invalid JSON";
        return fail_at(what, text, where, mistake);
    }
    while (stop < text + size && is_space(*stop))
        stop++;
    if (stop < text + size) {
        cJSON_Delete(parsed);
        return fail_at(what, text, stop, "unexpected text after the end of the JSON");
    }
    heddle_status status = check_keys(what, parsed);
    if (status != HEDDLE_OK) {
        cJSON_Delete(parsed);
        return status;
    }
    *json = parsed;
    return HEDDLE_OK;
}

heddle_status heddle_json_read(const char *path, cJSON **json)
{
    *json = NULL;
    char *text = NULL;
    size_t size = 0;
    HEDDLE_TRY(heddle_file_read(path, LARGEST_FILE, &text, &size));
    heddle_status status = heddle_json_parse(path, text, size, json);
    free(text);
    return status;
}

// --- fields ---------------------------------------------------------------------------------------------------------

// *item is NULL when the field is absent.
static heddle_status find(const char *what, const cJSON *object, const char *field, const cJSON **item)
{
    if (!cJSON_IsObject(object))
        return heddle_fail(HEDDLE_CORRUPT, "%s: must be a JSON object with the field \"%s\"", what, field);
    *item = cJSON_GetObjectItemCaseSensitive(object, field);
    return HEDDLE_OK;
}

static heddle_status find_required(const char *what, const cJSON *object, const char *field, const cJSON **item)
{
    HEDDLE_TRY(find(what, object, field, item));
    if (*item)
        return HEDDLE_OK;
    heddle_fail(HEDDLE_CORRUPT, "%s: the field \"%s\" is missing", what, field);
    return HEDDLE_CORRUPT;
}

// The fewest digits that read back as the same number: a limit of 0.99 is not 0.98999999999999999.
static const char *print_number(double number, char text[NUMBER_SIZE])
{
    snprintf(text, NUMBER_SIZE, "%.15g", number);
    if (strtod(text, NULL) != number)
        snprintf(text, NUMBER_SIZE, "%.17g", number);
    return text;
}

static heddle_status read_number(const char *what, const cJSON *item, const char *field, double least, double most,
                                 double *value)
{
    if (!item || !cJSON_IsNumber(item))
        return heddle_fail(HEDDLE_CORRUPT, "%s: the field \"%s\" must be a number", what, field);
    char is[NUMBER_SIZE], from[NUMBER_SIZE], to[NUMBER_SIZE];
    if (!(item->valuedouble >= least && item->valuedouble <= most))
        return heddle_fail(HEDDLE_CORRUPT, "%s: the field \"%s\" is %s; it must be from %s to %s", what, field,
                           print_number(item->valuedouble, is), print_number(least, from), print_number(most, to));
    *value = item->valuedouble;
    return HEDDLE_OK;
}

static heddle_status read_int(const char *what, const cJSON *item, const char *field, long long least, long long most,
                              long long *value)
{
    char is[NUMBER_SIZE];
    double number = 0;
    HEDDLE_TRY(read_number(what, item, field, -INFINITY, INFINITY, &number));
    if (number != floor(number) || fabs(number) > largest_exact || (long long)number < least ||
        (long long)number > most)
        return heddle_fail(HEDDLE_CORRUPT, "%s: the field \"%s\" is %s; it must be an integer from %lld to %lld", what,
                           field, print_number(number, is), least, most);
    *value = (long long)number;
    return HEDDLE_OK;
}

heddle_status heddle_json_text(const char *what, const cJSON *object, const char *field, const char **value)
{
    const cJSON *item = NULL;
    HEDDLE_TRY(find_required(what, object, field, &item));
    if (!cJSON_IsString(item))
        return heddle_fail(HEDDLE_CORRUPT, "%s: the field \"%s\" must be a string", what, field);
    *value = item->valuestring;
    return HEDDLE_OK;
}

heddle_status heddle_json_int(const char *what, const cJSON *object, const char *field, long long least, long long most,
                              long long *value)
{
    const cJSON *item = NULL;
    HEDDLE_TRY(find_required(what, object, field, &item));
    return read_int(what, item, field, least, most, value);
}

heddle_status heddle_json_int_or(const char *what, const cJSON *object, const char *field, long long least,
                                 long long most, long long otherwise, long long *value)
{
    const cJSON *item = NULL;
    HEDDLE_TRY(find(what, object, field, &item));
    if (item)
        return read_int(what, item, field, least, most, value);
    *value = otherwise;
    return HEDDLE_OK;
}

heddle_status heddle_json_number_or(const char *what, const cJSON *object, const char *field, double least, double most,
                                    double otherwise, double *value)
{
    const cJSON *item = NULL;
    HEDDLE_TRY(find(what, object, field, &item));
    if (item)
        return read_number(what, item, field, least, most, value);
    *value = otherwise;
    return HEDDLE_OK;
}

heddle_status heddle_json_array(const char *what, const cJSON *object, const char *field, const cJSON **value)
{
    const cJSON *item = NULL;
    HEDDLE_TRY(find_required(what, object, field, &item));
    if (!cJSON_IsArray(item))
        return heddle_fail(HEDDLE_CORRUPT, "%s: the field \"%s\" must be an array", what, field);
    *value = item;
    return HEDDLE_OK;
}

// --- writing --------------------------------------------------------------------------------------------------------

static bool is_container(const cJSON *item)
{
    return cJSON_IsArray(item) || cJSON_IsObject(item);
}

static bool holds_containers(const cJSON *item)
{
    const cJSON *child;
    cJSON_ArrayForEach(child, item)
    {
        if (is_container(child))
            return true;
    }
    return false;
}

// A name or a plain value.
static bool write_plain(const cJSON *item, FILE *file)
{
    char *text = cJSON_PrintUnformatted(item);
    if (text)
        fputs(text, file);
    cJSON_free(text);
    return text != NULL;
}

static bool write_name(const char *name, FILE *file)
{
    cJSON *text = name ? cJSON_CreateStringReference(name) : NULL;
    bool written = !name || (text && write_plain(text, file) && fputs(": ", file) >= 0);
    cJSON_Delete(text);
    return written;
}

// `indent` below 0: within a row, on one line.
static bool write_item(const cJSON *item, int indent, FILE *file)
{
    if (!is_container(item))
        return write_plain(item, file);
    const bool open = indent >= 0 && holds_containers(item), list = cJSON_IsArray(item);
    const cJSON *child;
    fputc(list ? '[' : '{', file);
    cJSON_ArrayForEach(child, item)
    {
        if (child != item->child)
            fputs(open ? "," : ", ", file);
        if (open)
            fprintf(file, "\n%*s", indent + 1, "");
        if (!write_name(child->string, file) || !write_item(child, open && !list ? indent + 1 : -1, file))
            return false;
    }
    if (open)
        fprintf(file, "\n%*s", indent, "");
    fputc(list ? ']' : '}', file);
    return true;
}

char *heddle_json_print(const cJSON *json)
{
    char *text = NULL;
    size_t size;
    FILE *file = json ? open_memstream(&text, &size) : NULL;
    if (!file)
        return NULL;
    bool whole = write_item(json, 0, file);
    if (fclose(file) == 0 && whole)
        return text;
    free(text);
    return NULL;
}

void heddle_json_add_number(cJSON *object, const char *name, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(object, name, value);
}
