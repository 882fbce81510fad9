/* The numbers and layouts in rm.h are those of spec/rm.api. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "slices/rm.h"

static const char *path;

/* The number after "kind NAME"; for a field, its offset, or its size with second. */
static long number_of(const char *record, const char *kind, const char *name, bool second) {
    FILE *file = fopen(path, "r");
    char line[256], in[64] = "";
    long found = -1;
    CHECK(file);
    while (fgets(line, sizeof line, file)) {
        char words[3][64] = {"", "", ""};
        int count = sscanf(line, "%63s %63s %63s", words[0], words[1], words[2]);
        if (count < 2 || *line == '#')
            continue;
        if (strcmp(words[0], "record") == 0)
            snprintf(in, sizeof in, "%s", words[1]);
        bool field = record && strcmp(in, record) == 0 && strcmp(words[0], name) == 0;
        bool other = !record && strcmp(words[0], kind) == 0 && strcmp(words[1], name) == 0;
        if (field)
            found = strtol(words[second ? 2 : 1], NULL, 0);
        if (other)
            found = strtol(words[2], NULL, 0);
    }
    fclose(file);
    return found;
}

#define SAME(kind, name, value) CHECK(number_of(NULL, kind, name, false) == (long)(value), "%s %s is %ld", kind, name, number_of(NULL, kind, name, false))
#define FIELD(record, type, spec, member)                                                    \
    CHECK(number_of(record, NULL, spec, false) == (long)offsetof(type, member) &&            \
          number_of(record, NULL, spec, true) == (long)sizeof(((type *)NULL)->member), "%s.%s", record, spec)

static void should_have_the_numbers_of_the_spec(void) {
    SAME("escape", "FREE", SL_RM_FREE);
    SAME("escape", "CONTROL", SL_RM_CONTROL);
    SAME("escape", "ALLOC", SL_RM_ALLOC);
    SAME("escape", "XFER", SL_RM_XFER);
    SAME("class", "DEVICE", SL_RM_DEVICE);
    SAME("class", "SUBDEVICE", SL_RM_SUBDEVICE);
    SAME("class", "GROUP", SL_RM_GROUP);
    SAME("command", "SET_SLICE", SL_RM_SET_SLICE);
    SAME("command", "GET_SLICE", SL_RM_GET_SLICE);
    SAME("command", "PREEMPT", SL_RM_PREEMPT);
    SAME("command", "DISABLE", SL_RM_DISABLE);
    SAME("record", "alloc", sizeof(sl_rm_alloc_t));
    SAME("record", "alloc_long", sizeof(sl_rm_alloc_long_t));
    SAME("record", "free", sizeof(sl_rm_free_t));
    SAME("record", "control", sizeof(sl_rm_control_t));
    SAME("record", "xfer", sizeof(sl_rm_xfer_t));
    SAME("record", "xfer", sizeof(sl_rm_xfer_t));
    SAME("record", "slice", sizeof(sl_rm_slice_t));
    SAME("record", "preempt", sizeof(sl_rm_preempt_t));
    SAME("record", "disable", sizeof(sl_rm_disable_t));
}

static void should_have_the_layouts_of_the_spec(void) {
    FIELD("alloc", sl_rm_alloc_t, "client", client);
    FIELD("alloc", sl_rm_alloc_t, "parent", parent);
    FIELD("alloc", sl_rm_alloc_t, "object", object);
    FIELD("alloc", sl_rm_alloc_t, "class", class);
    FIELD("alloc", sl_rm_alloc_t, "status", status);
    FIELD("alloc_long", sl_rm_alloc_long_t, "status", status);
    FIELD("free", sl_rm_free_t, "object", object);
    FIELD("control", sl_rm_control_t, "object", object);
    FIELD("control", sl_rm_control_t, "command", command);
    FIELD("control", sl_rm_control_t, "parameters", parameters);
    FIELD("control", sl_rm_control_t, "bytes", bytes);
    FIELD("control", sl_rm_control_t, "status", status);
    FIELD("xfer", sl_rm_xfer_t, "parameters", parameters);
    FIELD("xfer", sl_rm_xfer_t, "escape", escape);
    FIELD("xfer", sl_rm_xfer_t, "bytes", bytes);
    FIELD("xfer", sl_rm_xfer_t, "parameters", parameters);
    FIELD("slice", sl_rm_slice_t, "micros", micros);
    FIELD("preempt", sl_rm_preempt_t, "wait", wait);
    FIELD("preempt", sl_rm_preempt_t, "manual", manual);
    FIELD("preempt", sl_rm_preempt_t, "timeout_micros", timeout_micros);
    FIELD("disable", sl_rm_disable_t, "count", count);
    FIELD("disable", sl_rm_disable_t, "rewind", rewind);
    FIELD("disable", sl_rm_disable_t, "event", event);
    FIELD("disable", sl_rm_disable_t, "clients", clients);
    FIELD("disable", sl_rm_disable_t, "channels", channels);
}

static void should_name_the_checked_versions(void) {
    static const char *const versions[] = SL_RM_CHECKED;
    for (unsigned i = 0; i < sizeof versions / sizeof *versions; i++)
        CHECK(number_of(NULL, "checked", versions[i], false) == 0, "%s is not in the spec", versions[i]);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    path = argv[1];
    should_have_the_numbers_of_the_spec();
    should_have_the_layouts_of_the_spec();
    should_name_the_checked_versions();
    return 0;
}
