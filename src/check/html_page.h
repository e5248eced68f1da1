// What the page of a check begins and ends with: its style, and the switch between dark and light.
#ifndef HEDDLE_CHECK_HTML_PAGE_H
#define HEDDLE_CHECK_HTML_PAGE_H

extern const char heddle_check_html_head[];
extern const char heddle_check_html_tail[];

#endif
