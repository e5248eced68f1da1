#include "learn.h"

#include <string>

#include "18.5-sha-rotate.cu"

// A message, and its digest as the standard tools print it.
struct known {
    const char *text, *digest;
};

static std::vector<unsigned> padded(const char *text)
{
    std::vector<unsigned> words(16, 0u);
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        words[i / 4] |= (unsigned)(unsigned char)text[i] << (24 - 8 * (i % 4));
    words[length / 4] |= 0x80u << (24 - 8 * (length % 4));
    words[15] = (unsigned)length * 8;
    return words;
}

int main(void)
{
    const known messages[] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                              {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                              {"heddle", "751737768ed4354feb5c30cb5432d7efb608367d9291827772bfd03321e78e95"},
                              {"message digest", "f7846f55cf23e14eebeab5b4e1550cad5b509e3348fbc4efa3a1413d393cb650"},
                              {"The quick brown fox jumps over the lazy dog",
                               "d7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e592"}};
    std::vector<unsigned> words, expected;
    int count = (int)(sizeof messages / sizeof messages[0]);
    for (const known &message : messages) {
        std::vector<unsigned> block = padded(message.text);
        words.insert(words.end(), block.begin(), block.end());
        for (int k = 0; k < 8; k++)
            expected.push_back((unsigned)strtoul(std::string(message.digest + 8 * k, 8).c_str(), nullptr, 16));
    }
    learn_case("%d messages", count);
    unsigned *device_words = learn_device(words), *digests = learn_output<unsigned>(expected.size());
    sha256<<<1, 32>>>(device_words, digests, count);
    learn_expect("digests", digests, expected);
    return learn_passed();
}
