/* Every reason fits into the field in which tools read it, with the longest values that its places take. */
#include "check.h"

#include "os/size.h"
#include "pause/reasons.h"
#include "region_layout.h"

static unsigned count, longest;

static void check(const char *name, const char *text) {
    size_t room = sizeof ((sl_region_pause_t *)NULL)->reason;
    CHECK(strlen(text) < room, "%s has %zu bytes of %zu: %s", name, strlen(text), room - 1, text);
    count++;
    longest = strlen(text) > longest ? (unsigned)strlen(text) : longest;
}

static void should_cut_no_reason(void) {
    char text[512];
#define CHECK_ONE(name, ...)                             \
    snprintf(text, sizeof text, __VA_ARGS__);            \
    check(#name, text);
    SL_REASONS(CHECK_ONE)
    printf("  %u reasons, the longest has %u bytes\n", count, longest);
    CHECK(count > 20);
}

/* What the table takes for the longest size: more than any host has. */
static void should_know_the_longest_size(void) {
    char text[SL_SIZE_TEXT_BYTES];
    for (int bit = 0; bit < 51; bit++)
        for (int less = 0; less < 2; less++)
            CHECK(strlen(sl_size_format((1ull << bit) - (uint64_t)less, text)) <= strlen(SL_REASON_BYTES), "%s", text);
}

int main(void) {
    RUN(should_cut_no_reason);
    RUN(should_know_the_longest_size);
    return 0;
}
