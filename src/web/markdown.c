// Reads Markdown with cmark-gfm and changes three things in its tree: links, headings that links lead to, and comments
// that ask for a picture.

#include "web/markdown.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "web/missing.h"

// As GitHub does it: letters, digits, - and _ stay, blanks become -, the rest goes. Letters beyond ASCII stay as they
// are.
void heddle_web_anchor(const char *heading, char *anchor, size_t size)
{
    size_t used = 0;
    for (const unsigned char *at = (const unsigned char *)heading; *at && used + 1 < size; at++) {
        bool stays = isalnum(*at) || *at == '-' || *at == '_' || *at >= 0x80;
        if (stays || *at == ' ')
            anchor[used++] = *at == ' ' ? '-' : (char)tolower(*at);
    }
    if (size > 0)
        anchor[used] = '\0';
}

#if HEDDLE_HAVE_CMARK

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

enum { HEADING_SIZE = 256, PICTURE_SIZE = 128 };

// The words of a heading, whatever stands around them.
static void heading_text(cmark_node *heading, char text[HEADING_SIZE])
{
    size_t used = 0;
    cmark_iter *walk = cmark_iter_new(heading);
    text[0] = '\0';
    for (cmark_event_type event; (event = cmark_iter_next(walk)) != CMARK_EVENT_DONE;) {
        cmark_node *node = cmark_iter_get_node(walk);
        const char *literal = event == CMARK_EVENT_ENTER ? cmark_node_get_literal(node) : NULL;
        if (literal && used < HEADING_SIZE - 1)
            used += (size_t)snprintf(text + used, HEADING_SIZE - used, "%s", literal);
    }
    cmark_iter_free(walk);
}

static void add_anchor(cmark_node *heading)
{
    char text[HEADING_SIZE], anchor[HEADING_SIZE], markup[HEADING_SIZE + 32];
    heading_text(heading, text);
    heddle_web_anchor(text, anchor, sizeof anchor);
    snprintf(markup, sizeof markup, "<a id=\"%s\"></a>", anchor); // it has no character of HTML's own
    cmark_node *mark = cmark_node_new(CMARK_NODE_CUSTOM_INLINE);
    cmark_node_set_on_enter(mark, markup);
    if (!cmark_node_prepend_child(heading, mark))
        cmark_node_free(mark);
}

// Puts the children of a link in its place.
static void unwrap(cmark_node *link)
{
    for (cmark_node *child; (child = cmark_node_first_child(link)) != NULL;)
        if (!cmark_node_insert_before(link, child))
            break;
    cmark_node_unlink(link);
    cmark_node_free(link);
}

// <!-- picture: warp stride.cu neighbours --> becomes a place that the page draws into.
static void add_place(cmark_node *comment)
{
    static const char begin[] = "<!-- picture: ", end[] = " -->\n";
    char markup[PICTURE_SIZE + 64];
    const char *text = cmark_node_get_literal(comment), *words = text ? text + strlen(begin) : NULL;
    if (!text || strncmp(text, begin, strlen(begin)) != 0)
        return;
    size_t length = strlen(words) - (strlen(words) > strlen(end) ? strlen(end) : 0);
    for (size_t i = 0; i < length; i++)
        if (length > PICTURE_SIZE || (!isalnum((unsigned char)words[i]) && !strchr("_.-= ", words[i])))
            return;
    snprintf(markup, sizeof markup, "<div class=\"recorded\" data-picture=\"%.*s\"></div>", (int)length, words);
    cmark_node *place = cmark_node_new(CMARK_NODE_CUSTOM_BLOCK);
    cmark_node_set_on_enter(place, markup);
    if (!cmark_node_insert_after(comment, place)) {
        cmark_node_free(place);
        return;
    }
    cmark_node_unlink(comment);
    cmark_node_free(comment);
}

static void change(cmark_node *document, heddle_web_resolve *resolve, void *context)
{
    char resolved[HEDDLE_WEB_ADDRESS_SIZE];
    cmark_iter *walk = cmark_iter_new(document);
    for (cmark_event_type event; (event = cmark_iter_next(walk)) != CMARK_EVENT_DONE;) {
        cmark_node *node = cmark_iter_get_node(walk);
        cmark_node_type type = cmark_node_get_type(node);
        if (type == CMARK_NODE_HTML_BLOCK) // a leaf: the walk has left it already
            add_place(node);
        // A node may be changed once the walk has left it.
        if (event != CMARK_EVENT_EXIT)
            continue;
        if (type == CMARK_NODE_HEADING)
            add_anchor(node);
        if (type != CMARK_NODE_LINK && type != CMARK_NODE_IMAGE)
            continue;
        if (resolve(context, cmark_node_get_url(node), resolved))
            cmark_node_set_url(node, resolved);
        else
            unwrap(node);
    }
    cmark_iter_free(walk);
}

heddle_status heddle_web_markdown(const char *text, heddle_web_resolve *resolve, void *context, char **html)
{
    static const char *const extensions[] = {"table", "strikethrough"};
    *html = NULL;
    cmark_gfm_core_extensions_ensure_registered();
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_DEFAULT);
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        cmark_syntax_extension *extension = cmark_find_syntax_extension(extensions[i]);
        if (extension)
            cmark_parser_attach_syntax_extension(parser, extension);
    }
    cmark_parser_feed(parser, text, strlen(text));
    cmark_node *document = cmark_parser_finish(parser);
    if (document) {
        change(document, resolve, context);
        *html = cmark_render_html(document, CMARK_OPT_DEFAULT, cmark_parser_get_syntax_extensions(parser));
        cmark_node_free(document);
    }
    cmark_parser_free(parser);
    return *html ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a page");
}

#else

heddle_status heddle_web_markdown(const char *text, heddle_web_resolve *resolve, void *context, char **html)
{
    (void)text;
    (void)resolve;
    (void)context;
    *html = NULL;
    return heddle_fail(HEDDLE_MISSING, HEDDLE_WEB_MISSING);
}

#endif
