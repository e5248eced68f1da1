// Markdown on a terminal or in a pipe: wrapped paragraphs, lists, headings, tables, and code as it is.

#include <ctype.h>
#include <string.h>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/learn_style.h"

// How far the words of a paragraph have come.
typedef struct flow {
    const heddle_cli_learn_style *style;
    int indent, column;
    bool empty, is_bold, is_italic, is_code;
} flow;

// --- words -----------------------------------------------------------------------------------------------------------

// Whether the asterisk at `text` begins *emphasis* that ends in the same line.
static bool begins_emphasis(const char *text, bool in_word)
{
    size_t length = strcspn(text, "\n"), end = 1;
    if (in_word || strchr(" \t\n*", text[1]))
        return false;
    while (end < length && (text[end] != '*' || strchr(" \t", text[end - 1])))
        end++;
    return end < length;
}

// Bytes of the mark at word[i], which changes how the text that follows looks; 0: it is text.
static size_t take_mark(flow *at, const char *word, size_t i)
{
    if (word[i] == '`') {
        at->is_code = !at->is_code;
        return 1;
    }
    if (at->is_code || word[i] != '*')
        return 0;
    if (word[i + 1] == '*') {
        at->is_bold = !at->is_bold;
        return 2;
    }
    if (!at->is_italic && !begins_emphasis(word + i, i > 0 && isalnum((unsigned char)word[i - 1])))
        return 0;
    at->is_italic = !at->is_italic;
    return 1;
}

static int visible_columns(const flow *at, const char *word, size_t length)
{
    char text[1024];
    size_t used = 0;
    flow now = *at;
    for (size_t i = 0; i < length && used + 1 < sizeof text;) {
        size_t mark = take_mark(&now, word, i);
        if (mark == 0 || (word[i] == '`' && !at->style->colour))
            text[used++] = word[i];
        i += mark > 0 ? mark : 1;
    }
    text[used] = '\0';
    return heddle_text_columns(text);
}

static void put_text(flow *at, const char *word, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t mark = take_mark(at, word, i);
        if (mark == 0 || (word[i] == '`' && !at->style->colour))
            fputc(word[i], at->style->file);
        if (mark > 0)
            set(at->style, at->is_code ? cyan : at->is_bold ? bold : at->is_italic ? italic : plain);
        i += mark > 0 ? mark : 1;
    }
}

// Bytes up to the next blank; code between backticks is not broken.
static size_t word_length(const char *word)
{
    size_t count = 0;
    for (bool code = false; word[count] && word[count] != '\n'; count++) {
        if (word[count] == '`')
            code = !code && strcspn(word + count + 1, "`") < strcspn(word + count + 1, "\n");
        else if (!code && strchr(" \t", word[count]))
            break;
    }
    return count;
}

// --- paragraphs ------------------------------------------------------------------------------------------------------

static void put_word(flow *at, const char *word, size_t length)
{
    int columns = visible_columns(at, word, length);
    if (at->empty || at->column + 1 + columns > at->style->width) {
        fprintf(at->style->file, "%s%*s", at->empty ? "" : "\n", at->indent, "");
        at->column = at->indent;
    } else {
        fputc(' ', at->style->file);
        at->column++;
    }
    at->empty = false;
    at->column += columns;
    put_text(at, word, length);
}

static void put_words(flow *at, const char *line, size_t length)
{
    for (const char *word = line; word < line + length;) {
        word += strspn(word, " \t");
        size_t count = word_length(word);
        if (count > 0 && word < line + length)
            put_word(at, word, count);
        word += count;
    }
}

static void end_paragraph(flow *at)
{
    if (!at->empty)
        fputc('\n', at->style->file);
    if (at->is_bold || at->is_italic || at->is_code)
        set(at->style, plain);
    at->empty = true;
    at->is_bold = at->is_italic = at->is_code = false;
}

static void print_heading(flow *at, const char *line, size_t length)
{
    size_t marks = strspn(line, "#");
    end_paragraph(at);
    at->is_bold = true;
    set(at->style, bold);
    put_words(at, line + marks, length - marks);
    end_paragraph(at);
}

static bool begins_item(const char *line)
{
    const char *digits = line;
    while (isdigit((unsigned char)*digits))
        digits++;
    return strncmp(line, "- ", 2) == 0 || strncmp(line, "* ", 2) == 0 ||
           (digits > line && strncmp(digits, ". ", 2) == 0);
}

// --- tables ----------------------------------------------------------------------------------------------------------

enum { MOST_CELLS = 12, LEAST_CELL = 8, GAP = 2 };

typedef struct cell {
    const char *text;
    size_t length;
} cell;

// The cells of a line "| a | b |"; returns how many.
static int split_row(const char *line, cell cells[MOST_CELLS])
{
    const char *end = line + strcspn(line, "\n");
    int count = 0;
    while (end > line && strchr(" \t|", end[-1]))
        end--;
    for (const char *at = line; at < end && count < MOST_CELLS;) {
        at += 1 + strspn(at + 1, " \t");
        size_t width = strcspn(at, "|\n"), length = width;
        while (length > 0 && strchr(" \t", at[length - 1]))
            length--;
        cells[count++] = (cell){at, length};
        at += width;
    }
    return count;
}

// Whether the line stands between the head of a table and its rows: "|---|---|".
static bool is_rule(const char *line)
{
    return line[0] == '|' && line[1 + strspn(line + 1, " :")] == '-' && strspn(line, "|-: ") == strcspn(line, "\n");
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return line + (*line == '\n');
}

// How wide each column is: as its widest cell, less where the table is wider than the terminal. Returns how many.
static int measure_table(const flow *at, const char *text, int room, int widths[MOST_CELLS])
{
    int columns = 0, total = 0;
    for (const char *line = text; line[0] == '|'; line = next_line(line)) {
        cell cells[MOST_CELLS];
        int count = is_rule(line) ? 0 : split_row(line, cells);
        columns = count > columns ? count : columns;
        for (int i = 0; i < count; i++) {
            int width = visible_columns(at, cells[i].text, cells[i].length);
            widths[i] = width > widths[i] ? width : widths[i];
        }
    }
    for (int i = 0; i < columns; i++)
        total += widths[i] + (i > 0 ? GAP : 0);
    for (int widest = 0; total > room; total--) {
        for (int i = 0; i < columns; i++)
            widest = widths[i] > widths[widest] ? i : widest;
        if (widths[widest] <= LEAST_CELL)
            break;
        widths[widest]--;
    }
    return columns;
}

// Bytes of the words of a cell that fit into one line; at least one word.
static size_t fitting(const flow *at, const cell *rest, int width)
{
    size_t length = 0;
    for (size_t next = 0; next < rest->length;) {
        next += strspn(rest->text + next, " \t");
        next += strcspn(rest->text + next, " \t|\n");
        if (length > 0 && visible_columns(at, rest->text, next) > width)
            break;
        length = next;
    }
    return length;
}

// Prints what fits of a cell behind `blanks`; returns the columns it took, 0 if the cell is empty by now.
static int print_cell(flow *at, cell *rest, int width, int blanks)
{
    size_t length = fitting(at, rest, width);
    int used = visible_columns(at, rest->text, length);
    if (length == 0)
        return 0;
    fprintf(at->style->file, "%*s", blanks, "");
    set(at->style, at->is_code ? cyan : at->is_bold ? bold : plain);
    put_text(at, rest->text, length);
    set(at->style, plain);
    length += length < rest->length ? strspn(rest->text + length, " \t") : 0;
    *rest = (cell){rest->text + length, rest->length - length};
    return used;
}

static void print_row(const flow *from, const char *line, bool is_head, int columns, const int widths[MOST_CELLS])
{
    cell cells[MOST_CELLS] = {0};
    flow states[MOST_CELLS];
    split_row(line, cells);
    for (int i = 0; i < columns; i++)
        states[i] = (flow){.style = from->style, .is_bold = is_head};
    for (bool more = true; more;) {
        int blanks = from->indent + INDENT; // before the next cell that has text
        more = false;
        for (int i = 0; i < columns; i++) {
            int used = print_cell(&states[i], &cells[i], widths[i], blanks);
            blanks = (used > 0 ? 0 : blanks) + (used < widths[i] ? widths[i] - used : 0) + GAP;
            more |= cells[i].length > 0;
        }
        fputc('\n', from->style->file);
    }
}

// Returns where the text goes on.
static const char *print_table(const flow *at, const char *text)
{
    int widths[MOST_CELLS] = {0}, total = 0;
    int columns = measure_table(at, text, at->style->width - at->indent - INDENT, widths);
    const char *line = text;
    for (int i = 0; i < columns; i++)
        total += widths[i] + (i > 0 ? GAP : 0);
    for (; line[0] == '|'; line = next_line(line)) {
        if (!is_rule(line)) {
            print_row(at, line, line == text, columns, widths);
            continue;
        }
        fprintf(at->style->file, "%*s", at->indent + INDENT, "");
        for (int i = 0; i < total; i++)
            fputs(at->style->utf8 ? "─" : "-", at->style->file);
        fputc('\n', at->style->file);
    }
    return line;
}

// --- a whole text ----------------------------------------------------------------------------------------------------

void heddle_cli_learn_print(const heddle_cli_learn_style *style, const char *text, int indent)
{
    flow at = {.style = style, .indent = indent, .empty = true};
    bool verbatim = false;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        if (strncmp(line, "```", 3) == 0) {
            end_paragraph(&at);
            verbatim = !verbatim;
        } else if (!verbatim && line[0] == '|' && is_rule(next_line(line))) {
            end_paragraph(&at);
            line = print_table(&at, line);
            continue;
        } else if (verbatim || line[0] == '|') {
            end_paragraph(&at);
            fprintf(style->file, "%*s%.*s\n", indent + INDENT, "", (int)length, line);
        } else if (length == 0) {
            end_paragraph(&at);
            fputc('\n', style->file);
        } else if (line[0] == '#') {
            print_heading(&at, line, length);
        } else {
            if (begins_item(line))
                end_paragraph(&at);
            put_words(&at, line, length);
        }
        line += length + (line[length] == '\n');
    }
    end_paragraph(&at);
}
