// Opens a socket on an address and a port.

#include "web/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { USUAL_PORT = 8765, BACKLOG = 128 };

typedef union any_address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
} any_address;

static any_address address_of(const char *text, int port)
{
    any_address made = {0};
    if (strchr(text, ':')) {
        made.six.sin6_family = AF_INET6;
        made.six.sin6_port = htons((uint16_t)port);
        inet_pton(AF_INET6, text, &made.six.sin6_addr);
    } else {
        made.four.sin_family = AF_INET;
        made.four.sin_port = htons((uint16_t)port);
        inet_pton(AF_INET, text, &made.four.sin_addr);
    }
    return made;
}

// A socket that listens; -1 with errno.
static int listen_on(const char *text, int port)
{
    any_address address = address_of(text, port);
    int on = 1, family = address.any.sa_family;
    int made = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0)
        return -1;
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(made, &address.any, family == AF_INET6 ? sizeof address.six : sizeof address.four) == 0 &&
        listen(made, BACKLOG) == 0)
        return made;
    int why = errno;
    close(made);
    errno = why;
    return -1;
}

heddle_status heddle_web_listen(const char *address, int wanted, int *made, int *port)
{
    any_address bound = {0};
    socklen_t length = sizeof bound;
    *port = wanted > 0 ? wanted : USUAL_PORT;
    *made = listen_on(address, *port);
    if (*made < 0 && errno == EADDRINUSE && wanted == 0)
        *made = listen_on(address, 0);
    if (*made < 0)
        return heddle_fail(HEDDLE_IO, "cannot listen on %s, port %d: %s; --port chooses another", address, *port,
                           strerror(errno));
    if (getsockname(*made, &bound.any, &length) == 0)
        *port = ntohs(bound.any.sa_family == AF_INET6 ? bound.six.sin6_port : bound.four.sin_port);
    return HEDDLE_OK;
}
