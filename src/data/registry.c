// The table of named datasets. SHA-256 sums are those of the files as their makers published them.

#include "data/registry.h"

#include <string.h>

#include "base/text.h"

static const char *const fashion_names[] = {"T-shirt", "trouser", "pullover", "dress", "coat",
                                            "sandal",  "shirt",   "sneaker",  "bag",   "ankle boot"};

static const heddle_download_file mnist_files[HEDDLE_FILES_OF_A_SET] = {
    {"train-images-idx3-ubyte.gz", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609", 9912422},
    {"train-labels-idx1-ubyte.gz", "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c", 28881},
    {"t10k-images-idx3-ubyte.gz", "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6", 1648877},
    {"t10k-labels-idx1-ubyte.gz", "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6", 4542},
};

static const heddle_download_file fashion_files[HEDDLE_FILES_OF_A_SET] = {
    {"train-images-idx3-ubyte.gz", "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84", 26421880},
    {"train-labels-idx1-ubyte.gz", "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845", 29515},
    {"t10k-images-idx3-ubyte.gz", "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073", 4422102},
    {"t10k-labels-idx1-ubyte.gz", "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5", 5148},
};

static const char *const mnist_mirrors[] = {
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
    NULL,
};

static const char *const fashion_mirrors[] = {
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    NULL,
};

static const char *const mnist_folders[] = {"mnist", NULL};
static const char *const fashion_folders[] = {"fashion", "fashion-mnist", NULL}; // the second is Debian's

const heddle_named_set heddle_named_sets[] = {
    {
        .name = "mnist",
        .summary = "handwritten digits, 28×28 grey, 60,000 training and 10,000 test images",
        .how_to_get = "run `heddle data get mnist`, or give its folder with --data DIR",
        .folders = mnist_folders,
        .may_be_at_root = true,
        .classes = 10,
        .files = mnist_files,
        .mirrors = mnist_mirrors,
    },
    {
        .name = "fashion",
        .summary = "photographs of clothes, 28×28 grey, 60,000 training and 10,000 test images",
        .how_to_get = "run `apt install dataset-fashion-mnist` or `heddle data get fashion`",
        .folders = fashion_folders,
        .classes = 10,
        .class_names = fashion_names,
        .files = fashion_files,
        .mirrors = fashion_mirrors,
    },
    {
        .name = "synth",
        .summary = "digits generated from a seed: synth:count=10000,seed=1,size=28",
        .how_to_get = "generated on demand",
        .classes = 10,
    },
};
const int heddle_named_set_count = sizeof heddle_named_sets / sizeof *heddle_named_sets;

const heddle_named_set *heddle_named_set_find(const char *name, size_t length)
{
    for (int i = 0; i < heddle_named_set_count; i++)
        if (strlen(heddle_named_sets[i].name) == length && memcmp(heddle_named_sets[i].name, name, length) == 0)
            return &heddle_named_sets[i];
    return NULL;
}

const char *heddle_named_set_nearest(const char *name)
{
    const char *names[sizeof heddle_named_sets / sizeof *heddle_named_sets];
    for (int i = 0; i < heddle_named_set_count; i++)
        names[i] = heddle_named_sets[i].name;
    return heddle_text_nearest(name, names, heddle_named_set_count);
}
