// What the page of a check begins and ends with: its style, and the switch between dark and light.
#pragma once

extern const char heddle_check_html_head[]; // ends within its style
extern const char heddle_check_html_body[];
extern const char heddle_check_html_tail[];
