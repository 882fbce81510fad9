/* Shares mean in C what spec/shares.txt says; Java is held to the same table. Usage: shares_test TABLE */
#include "check.h"
#include "tenant/switches/shares.h"

/* Formats caps as the table does: one number for all GPUs, or a list of those with a cap. */
static void write_caps(const uint32_t permille[SL_SHARES_GPUS], char text[256]) {
    bool equal = true;
    size_t length = 0;
    for (int gpu = 1; gpu < SL_SHARES_GPUS; gpu++)
        equal &= permille[gpu] == permille[0];
    if (equal) {
        snprintf(text, 256, "%u", permille[0]);
        return;
    }
    for (int gpu = 0; gpu < SL_SHARES_GPUS; gpu++)
        if (permille[gpu])
            length += (size_t)snprintf(text + length, 256 - length, "%s%d=%u", length ? " " : "", gpu, permille[gpu]);
}

static void read_as(const char *kind, const char *text, char meaning[256]) {
    uint32_t number = 0, permille[SL_SHARES_GPUS];
    int32_t priority;
    bool exclusive, ok = false;
    if (strcmp(kind, "compute") == 0) {
        ok = sl_shares_read_compute(text, permille);
        if (ok)
            write_caps(permille, meaning);
    } else if (strcmp(kind, "priority") == 0) {
        ok = sl_shares_read_priority(text, &priority);
        snprintf(meaning, 256, "%d", priority);
    } else if (strcmp(kind, "exclusive") == 0) {
        ok = sl_shares_read_exclusive(text, &exclusive);
        snprintf(meaning, 256, "%d", exclusive);
    } else {
        ok = strcmp(kind, "percent") == 0  ? sl_shares_read_percent(text, strlen(text), &number)
             : strcmp(kind, "older") == 0  ? sl_shares_read_older_percent(text, strlen(text), &number)
             : strcmp(kind, "weight") == 0 ? sl_shares_read_weight(text, &number)
             : strcmp(kind, "turn") == 0   ? sl_shares_read_turn(text, &number)
                                           : (fprintf(stderr, "unknown kind %s\n", kind), exit(1), false);
        snprintf(meaning, 256, "%u", number);
    }
    if (!ok)
        strcpy(meaning, "error");
}

int main(int argc, char **argv) {
    CHECK(argc == 2, "usage: shares_test TABLE");
    FILE *table = fopen(argv[1], "r");
    CHECK(table, "cannot read %s", argv[1]);
    char line[256], meaning[256];
    int lines = 0;
    while (fgets(line, sizeof line, table)) {
        if (*line == '#')
            continue;
        line[strcspn(line, "\n")] = 0;
        char *text = strchr(line, '\t'), *expected = strrchr(line, '\t');
        CHECK(text && expected > text, "not three columns: %s", line);
        *text = *expected = 0;
        read_as(line, text + 1, meaning);
        CHECK(strcmp(meaning, expected + 1) == 0, "%s '%s' was read as %s, not %s", line, text + 1, meaning, expected + 1);
        lines++;
    }
    CHECK(lines > 80);
    return 0;
}
