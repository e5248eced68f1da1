// SHA-256 of a file, by libcrypto.

#include "data/sha256.h"

#ifdef HEDDLE_HAVE_CRYPTO

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

enum {
    DIGEST_BYTES = 32,
    PIECE = 64 * 1024,
};

heddle_status heddle_sha256_available(void)
{
    return HEDDLE_OK;
}

static heddle_status digest_stream(const char *path, FILE *file, EVP_MD_CTX *digest, unsigned char *result)
{
    unsigned char piece[PIECE];
    size_t got;
    unsigned length = 0;
    if (!digest || !EVP_DigestInit_ex(digest, EVP_sha256(), NULL))
        return heddle_fail(HEDDLE_INTERNAL, "libcrypto does not provide SHA-256");
    while ((got = fread(piece, 1, sizeof piece, file)) > 0)
        if (!EVP_DigestUpdate(digest, piece, got))
            return heddle_fail(HEDDLE_INTERNAL, "libcrypto failed on %s", path);
    if (ferror(file))
        return heddle_fail(HEDDLE_IO, "cannot read %s: %s", path, strerror(errno));
    if (!EVP_DigestFinal_ex(digest, result, &length) || length != DIGEST_BYTES)
        return heddle_fail(HEDDLE_INTERNAL, "libcrypto failed on %s", path);
    return HEDDLE_OK;
}

heddle_status heddle_sha256_file(const char *path, char text[HEDDLE_SHA256_TEXT])
{
    FILE *file = fopen(path, "rbe");
    if (!file)
        return heddle_fail(HEDDLE_IO, "cannot open %s: %s", path, strerror(errno));
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    unsigned char result[EVP_MAX_MD_SIZE] = {0};
    heddle_status status = digest_stream(path, file, digest, result);
    EVP_MD_CTX_free(digest);
    fclose(file);
    if (status == HEDDLE_OK)
        for (int i = 0; i < DIGEST_BYTES; i++)
            snprintf(text + (size_t)2 * i, 3, "%02x", result[i]);
    return status;
}

#else

heddle_status heddle_sha256_available(void)
{
    return heddle_fail(
        HEDDLE_MISSING,
        "heddle was built without libcrypto and cannot verify downloads; install libssl-dev and rebuild");
}

heddle_status heddle_sha256_file(const char *path, char text[HEDDLE_SHA256_TEXT])
{
    (void)path;
    text[0] = '\0';
    return heddle_sha256_available();
}

#endif
