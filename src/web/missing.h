// What a build says that has no pages.
#pragma once

#define HEDDLE_WEB_MISSING                                                                                             \
    "this heddle was built without its web pages: install libmicrohttpd-dev, libcmark-gfm-dev and "                    \
    "libcmark-gfm-extensions-dev, then build it again"
