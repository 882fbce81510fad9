/* Sizes mean in C what spec/sizes.txt says; Java is held to the same table. Usage: size_test TABLE */
#include "check.h"
#include "os/size.h"

int main(int argc, char **argv) {
    CHECK(argc == 2, "usage: size_test TABLE");
    FILE *table = fopen(argv[1], "r");
    CHECK(table, "cannot read %s", argv[1]);
    char line[256];
    int lines = 0;
    while (fgets(line, sizeof line, table)) {
        char *tab = strchr(line, '\t');
        CHECK(tab, "no tab in: %s", line);
        *tab = 0;
        uint64_t bytes = 0;
        bool ok = sl_size_parse(line, strlen(line), &bytes);
        if (strncmp(tab + 1, "error", 5) == 0)
            CHECK(!ok, "'%s' was read as %llu", line, (unsigned long long)bytes);
        else
            CHECK(ok && bytes == strtoull(tab + 1, NULL, 10), "'%s' was read as %llu", line, (unsigned long long)bytes);
        lines++;
    }
    CHECK(lines > 20);
    return 0;
}
