// One HTTP request by libcurl. Nothing that a server says is trusted: neither the size it announces nor that it resumes
// as requested. download.c chooses the server and checks the bytes.

#include "data/transfer.h"

#ifdef HEDDLE_HAVE_CURL

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CONNECT_SECONDS = 15,
    STALL_SECONDS = 30, // with less than STALL_BYTES a second for so long, a server is given up
    STALL_BYTES = 64,
    MAX_REDIRECTS = 5,
    HTTP_OK = 200,
    HTTP_PARTIAL = 206,
    HTTP_RANGE_NOT_SATISFIABLE = 416,
    FILE_MODE = 0644,
};

typedef struct heddle_request {
    heddle_transfer *transfer;
    CURL *curl;
    int file;
    uint64_t range_start; // what a 206 answer says it starts at
    bool range_known, started, too_long, wrong_answer, stopped;
    int write_error; // errno
    char curl_reason[CURL_ERROR_SIZE];
} heddle_request;

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static CURLcode curl_ready;

static void start_curl(void)
{
    curl_ready = curl_global_init(CURL_GLOBAL_DEFAULT);
}

heddle_status heddle_transfer_available(void)
{
    pthread_once(&curl_once, start_curl);
    if (curl_ready != CURLE_OK)
        return heddle_fail(HEDDLE_MISSING, "libcurl failed to initialise: %s", curl_easy_strerror(curl_ready));
    return HEDDLE_OK;
}

// --- what curl calls ------------------------------------------------------------------------------------------------

// "Content-Range: bytes 500-999/1000" says where the body starts.
static bool parse_range(const char *line, uint64_t *start)
{
    static const char name[] = "content-range:", unit[] = "bytes ";
    if (strncasecmp(line, name, strlen(name)) != 0)
        return false;
    line += strlen(name);
    line += strspn(line, " \t");
    if (strncasecmp(line, unit, strlen(unit)) != 0 || !isdigit((unsigned char)line[strlen(unit)]))
        return false;
    *start = strtoull(line + strlen(unit), NULL, 10);
    return true;
}

static size_t on_header(char *line, size_t size, size_t count, void *context)
{
    heddle_request *request = context;
    char text[128];
    size_t length = size * count;
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), line);
    if (strncasecmp(text, "HTTP/", 5) == 0)
        request->range_known = false; // a new answer, after a redirect
    uint64_t start;
    if (parse_range(text, &start)) {
        request->range_known = true;
        request->range_start = start;
    }
    return length;
}

// The first bytes of the body: where do they go? A server that ignores the range sends the file from its start.
static bool start_body(heddle_request *request)
{
    heddle_transfer *transfer = request->transfer;
    long code = 0;
    curl_easy_getinfo(request->curl, CURLINFO_RESPONSE_CODE, &code);
    if (code == HTTP_PARTIAL && request->range_known && request->range_start == transfer->after)
        return true;
    if (code != HTTP_OK) {
        request->wrong_answer = true;
        return false;
    }
    if (transfer->after > 0 && ftruncate(request->file, 0) != 0) {
        request->write_error = errno;
        return false;
    }
    transfer->after = 0;
    return true;
}

static bool write_all(int file, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t put = write(file, data, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        data += put;
        size -= (size_t)put;
    }
    return true;
}

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    heddle_request *request = context;
    heddle_transfer *transfer = request->transfer;
    size_t length = size * count;
    if (!request->started && !start_body(request))
        return 0;
    request->started = true;
    if (length > transfer->limit - transfer->after) {
        request->too_long = true;
        return 0;
    }
    if (!write_all(request->file, data, length)) {
        request->write_error = errno;
        return 0;
    }
    transfer->after += length;
    return length;
}

static int on_progress(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now)
{
    (void)total, (void)now, (void)up_total, (void)up_now;
    heddle_request *request = context;
    heddle_transfer *transfer = request->transfer;
    if (transfer->progress &&
        transfer->progress(transfer->context, transfer->name, transfer->after, transfer->limit) != 0)
        request->stopped = true;
    return request->stopped;
}

// --- the request ----------------------------------------------------------------------------------------------------

static bool set_up(heddle_request *request, const char *range)
{
    CURL *curl = request->curl;
    CURLcode failed = CURLE_OK;
#define SET(option, value) (failed = failed ? failed : curl_easy_setopt(curl, option, value))
    SET(CURLOPT_ERRORBUFFER, request->curl_reason);
    SET(CURLOPT_URL, request->transfer->address);
    if (range[0])
        SET(CURLOPT_RANGE, range);
    SET(CURLOPT_USERAGENT, "heddle/" HEDDLE_VERSION);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_FAILONERROR, 1L);
    SET(CURLOPT_FOLLOWLOCATION, 1L);
    SET(CURLOPT_MAXREDIRS, (long)MAX_REDIRECTS);
#if LIBCURL_VERSION_NUM >= 0x075500 // 7.85: text instead of bits
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    SET(CURLOPT_REDIR_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    SET(CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    SET(CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
    SET(CURLOPT_LOW_SPEED_LIMIT, (long)STALL_BYTES);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, request);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, request);
    SET(CURLOPT_NOPROGRESS, 0L);
    SET(CURLOPT_XFERINFOFUNCTION, on_progress);
    SET(CURLOPT_XFERINFODATA, request);
#undef SET
    return failed == CURLE_OK;
}

static heddle_transfer_result refuse(heddle_transfer *transfer, heddle_transfer_result result, const char *reason)
{
    snprintf(transfer->reason, sizeof transfer->reason, "%s", reason);
    return result;
}

// Breaking off may be the network's doing and pass; what a server says of itself does not, nor does silence.
static bool may_pass(CURLcode code, bool anything_came)
{
    if (code == CURLE_OPERATION_TIMEDOUT)
        return anything_came;
    return code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING ||
           code == CURLE_SEND_ERROR || code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM;
}

static heddle_transfer_result judge(heddle_request *request, CURLcode code)
{
    heddle_transfer *transfer = request->transfer;
    long answer = 0;
    curl_easy_getinfo(request->curl, CURLINFO_RESPONSE_CODE, &answer);
    char text[HEDDLE_REASON_SIZE];
    if (code == CURLE_OK && transfer->after >= transfer->limit)
        return HEDDLE_TRANSFER_WHOLE;
    if (code == CURLE_OK) {
        snprintf(text, sizeof text, "ends after %" PRIu64 " of %" PRIu64 " bytes", transfer->after, transfer->limit);
        return refuse(transfer, HEDDLE_TRANSFER_CUT, text);
    }
    if (request->stopped)
        return HEDDLE_TRANSFER_STOPPED;
    if (request->write_error) {
        snprintf(text, sizeof text, "cannot write %s: %s", transfer->part, strerror(request->write_error));
        return refuse(transfer, HEDDLE_TRANSFER_LOCAL_ERROR, text);
    }
    if (request->too_long) {
        snprintf(text, sizeof text, "sends more than the %" PRIu64 " bytes the file has", transfer->limit);
        return refuse(transfer, HEDDLE_TRANSFER_REFUSED, text);
    }
    if (answer == HTTP_RANGE_NOT_SATISFIABLE && transfer->before > 0)
        return HEDDLE_TRANSFER_STALE;
    if (request->wrong_answer || code == CURLE_HTTP_RETURNED_ERROR) {
        snprintf(text, sizeof text, "answers with HTTP status %ld", answer);
        return refuse(transfer, HEDDLE_TRANSFER_REFUSED, text);
    }
    const char *reason = request->curl_reason[0] ? request->curl_reason : curl_easy_strerror(code);
    bool passes = may_pass(code, transfer->after > transfer->before);
    return refuse(transfer, passes ? HEDDLE_TRANSFER_CUT : HEDDLE_TRANSFER_REFUSED, reason);
}

static heddle_transfer_result run_request(heddle_request *request)
{
    heddle_transfer *transfer = request->transfer;
    char range[32] = "";
    if (transfer->before > 0)
        snprintf(range, sizeof range, "%" PRIu64 "-", transfer->before);
    if (!set_up(request, range))
        return refuse(transfer, HEDDLE_TRANSFER_REFUSED, "libcurl does not accept this address");
    return judge(request, curl_easy_perform(request->curl));
}

static heddle_transfer_result run_into(heddle_transfer *transfer, int file)
{
    struct stat about;
    if (fstat(file, &about) != 0)
        return refuse(transfer, HEDDLE_TRANSFER_LOCAL_ERROR, strerror(errno));
    if ((uint64_t)about.st_size >= transfer->limit) { // nothing can follow it, and it has been found wrong
        about.st_size = 0;
        if (ftruncate(file, 0) != 0)
            return refuse(transfer, HEDDLE_TRANSFER_LOCAL_ERROR, strerror(errno));
    }
    transfer->before = transfer->after = (uint64_t)about.st_size;
    heddle_request request = {.transfer = transfer, .file = file, .curl = curl_easy_init()};
    if (!request.curl)
        return refuse(transfer, HEDDLE_TRANSFER_LOCAL_ERROR, "libcurl failed to initialise");
    heddle_transfer_result result = run_request(&request);
    curl_easy_cleanup(request.curl);
    if (fsync(file) != 0 && result == HEDDLE_TRANSFER_WHOLE)
        return refuse(transfer, HEDDLE_TRANSFER_LOCAL_ERROR, strerror(errno));
    return result;
}

heddle_transfer_result heddle_transfer_run(heddle_transfer *transfer)
{
    transfer->reason[0] = '\0';
    if (strncasecmp(transfer->address, "http://", 7) != 0 && strncasecmp(transfer->address, "https://", 8) != 0)
        return refuse(transfer, HEDDLE_TRANSFER_REFUSED, "is neither http:// nor https://");
    int file = open(transfer->part, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, FILE_MODE);
    if (file < 0) {
        char text[HEDDLE_REASON_SIZE];
        snprintf(text, sizeof text, "cannot write %s: %s", transfer->part, strerror(errno));
        return refuse(transfer, HEDDLE_TRANSFER_LOCAL_ERROR, text);
    }
    heddle_transfer_result result = run_into(transfer, file);
    close(file);
    return result;
}

#else

#include <stdio.h>

heddle_status heddle_transfer_available(void)
{
    return heddle_fail(HEDDLE_MISSING, "heddle was built without libcurl and cannot download; install "
                                       "libcurl4-openssl-dev and libssl-dev and rebuild");
}

heddle_transfer_result heddle_transfer_run(heddle_transfer *transfer)
{
    snprintf(transfer->reason, sizeof transfer->reason, "heddle was built without libcurl");
    return HEDDLE_TRANSFER_LOCAL_ERROR;
}

#endif
