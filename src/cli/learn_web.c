// `heddle learn --web`: the learning page, served until Ctrl-C.

#include "cli/learn_web.h"

#include "cli/interrupt.h"
#include "learn/web.h"
#include "web/request.h"

static void print_address(const heddle_cli_learn *learn, const char *url, bool loopback)
{
    printf("The course is at\n\n  %s\n\nOpen it in a browser. Your files are in %s; any editor may change them, too.\n"
           "Judging runs your code here, contained as `heddle check` contains it. Ctrl-C ends.\n",
           url, learn->workspace.folder);
    if (!loopback)
        printf("Everyone who can reach this address and has the token can edit these files and run code here. What is "
               "sent is not encrypted.\n");
    fflush(stdout);
}

int heddle_cli_learn_web(heddle_cli_learn *learn, const heddle_cli_learn_web_settings *settings)
{
    char address[HEDDLE_WEB_NAME_SIZE] = "127.0.0.1";
    int port = settings->port;
    heddle_learn_web *web = NULL;
    heddle_status status = settings->listen ? heddle_web_address_read(settings->listen, address, &port) : HEDDLE_OK;
    if (status == HEDDLE_OK)
        status = heddle_learn_web_open(&learn->workspace,
                                       &(heddle_learn_web_settings){.address = address, .port = port}, &web);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    heddle_cli_learn_stop_gently(true);
    print_address(learn, heddle_learn_web_url(web), heddle_web_is_loopback(address));
    heddle_learn_web_run(web, &heddle_cli_interrupted);
    heddle_learn_web_close(web);
    return heddle_cli_interrupt_code();
}
