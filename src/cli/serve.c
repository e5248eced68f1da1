// `heddle serve`: the page on which a network is tried and trained, served until Ctrl-C.

#include "serve/serve.h"

#include "cli/cli.h"
#include "cli/dataset.h"
#include "cli/device.h"
#include "cli/interrupt.h"
#include "web/request.h"

typedef struct serve_settings {
    const char *listen, *device, *folder, *runs, *results;
    int port, threads;
} serve_settings;

#define PLACE(field) offsetof(serve_settings, field)

static const heddle_cli_option options[] = {
    {"listen", HEDDLE_CLI_TEXT, PLACE(listen), "ADDRESS[:PORT]", "127.0.0.1",
     "address to listen on; one that others can reach lets those who have the token run code here", 0, 0, NULL},
    {"port", HEDDLE_CLI_INT, PLACE(port), "N", NULL, "port to listen on (default: 8765, or a free one)", 1, 65535,
     NULL},
    {"runs", HEDDLE_CLI_TEXT, PLACE(runs), "DIR", "runs", "folder of the runs, where the page's runs go, too", 0, 0,
     NULL},
    {"results", HEDDLE_CLI_TEXT, PLACE(results), "DIR", "results",
     "folder of the results of `heddle bench --json=FILE` to show; what the page measures goes there, too", 0, 0, NULL},
    {"folder", HEDDLE_CLI_TEXT, PLACE(folder), "DIR", NULL, HEDDLE_CLI_FOLDER_HELP, 0, 0, NULL},
    {"device", HEDDLE_CLI_TEXT, PLACE(device), "NAME", NULL, HEDDLE_CLI_DEVICE_HELP, 0, 0, NULL},
    {"threads", HEDDLE_CLI_INT, PLACE(threads), "N", "0", "CPU threads; 0: one per core", 0, 1024, NULL},
};

static void print_address(const heddle_serve *serve, bool loopback)
{
    const char *checkpoint = heddle_serve_checkpoint(serve);
    if (checkpoint[0])
        printf("Serving %s at\n", checkpoint);
    else
        printf("There is no network yet; the page can train one. It is at\n");
    printf("\n  %s\n\nOpen it in a browser. Programs send the token as \"Authorization: Bearer TOKEN\". Ctrl-C ends.\n",
           heddle_serve_url(serve));
    if (!loopback)
        printf("Everyone who can reach this address and has the token can train and run code here. What is sent is not "
               "encrypted.\n");
    fflush(stdout);
}

static int run_command(int argc, char **argv)
{
    serve_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_serve, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    char address[HEDDLE_WEB_NAME_SIZE];
    int port = 0;
    heddle_serve *serve = NULL;
    heddle_status status = heddle_web_address_read(settings.listen, address, &port);
    if (status == HEDDLE_OK)
        status =
            heddle_serve_open(&(heddle_serve_settings){.address = address,
                                                       .port = settings.port ? settings.port : port,
                                                       .checkpoint = arguments.count > 0 ? arguments.items[0] : NULL,
                                                       .device = settings.device,
                                                       .threads = settings.threads,
                                                       .folder = settings.folder,
                                                       .runs = settings.runs,
                                                       .results = settings.results},
                              &serve);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    heddle_cli_stop_gently(&(heddle_cli_gently){0});
    print_address(serve, heddle_web_is_loopback(address));
    heddle_serve_run(serve, &heddle_cli_interrupted);
    heddle_serve_close(serve);
    return heddle_cli_interrupt_code();
}

const heddle_cli_command heddle_command_serve = {
    .name = "serve",
    .summary = "try, train and look into networks in a browser, or by a JSON API",
    .arguments = "[CHECKPOINT]",
    .most_arguments = 1,
    .description =
        "Serves a page on this machine: draw a digit and see the prediction as you draw, look at what every layer "
        "computes, train with live curves, see the confusion matrix, compare runs, look at benchmarks, and check a "
        "CUDA "
        "program. CHECKPOINT is a checkpoint file or the folder of a run; default: the newest run. docs/serve.md "
        "describes the API.\n\n"
        "Only this machine can reach the page, and only with the token in its address. It fetches nothing from "
        "elsewhere. CUDA programs that are dropped on it run contained, as with `heddle check`.",
    .example = "heddle serve\nheddle serve runs/mnist-cnn/best.safetensors --port 8080",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
