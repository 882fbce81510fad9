/* Sizes mean in C what spec/sizes.txt says; Java is held to the same table. Usage: size_test TABLE */
#include "check.h"
#include "os/size.h"

static void expect(const char *text, const char *meaning, bool (*parse)(const char *, size_t, uint64_t *), const char *whose) {
    uint64_t bytes = 0;
    bool ok = parse(text, strlen(text), &bytes);
    if (strcmp(meaning, "error") == 0)
        CHECK(!ok, "%s: '%s' was read as %llu", whose, text, (unsigned long long)bytes);
    else
        CHECK(ok && bytes == strtoull(meaning, NULL, 10), "%s: '%s' was read as %llu", whose, text, (unsigned long long)bytes);
}

static void should_write_sizes_for_people(void) {
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {{0, "0 B"}, {1023, "1023 B"}, {1024, "1.0 KiB"}, {1536, "1.5 KiB"}, {4294967296, "4.0 GiB"},
                 {1073741823, "1.0 GiB"}, {1048064, "1023.5 KiB"}, {INT64_MAX, "8.0 EiB"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[SL_SIZE_TEXT_BYTES];
        CHECK(strcmp(sl_size_format(sizes[i].bytes, text), sizes[i].text) == 0, "%s, not %s", text, sizes[i].text);
    }
}

int main(int argc, char **argv) {
    CHECK(argc == 2, "usage: size_test TABLE");
    FILE *table = fopen(argv[1], "r");
    CHECK(table, "cannot read %s", argv[1]);
    char line[256];
    int lines = 0;
    while (fgets(line, sizeof line, table)) {
        if (*line == '#')
            continue;
        line[strcspn(line, "\n")] = 0;
        char *own = strchr(line, '\t'), *older = own ? strchr(own + 1, '\t') : NULL;
        CHECK(own, "no tab in: %s", line);
        *own++ = 0;
        if (older)
            *older++ = 0;
        expect(line, own, sl_size_parse, "own");
        expect(line, older ? older : own, sl_size_parse_older, "older");
        lines++;
    }
    CHECK(lines > 20);
    should_write_sizes_for_people();
    return 0;
}
