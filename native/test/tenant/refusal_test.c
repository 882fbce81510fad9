/* A refused allocation is reported in one line to a user who asked for it, not to other programs, and not at each refusal. */
#include "check.h"

#include <fcntl.h>

#include "ledger/ledger.h"
#include "tenant/refusal.h"
#include "tenant/switches/options.h"
#include "os/report.h"
#include "tenant/tenant.h"

#define GPU 0
#define GIB (1ull << 30)

static char errors[4096];

/* What a function writes to stderr. */
static const char *errors_of(void (*body)(void)) {
    char path[64];
    snprintf(path, sizeof path, "%s/stderr", test_folder);
    int before = dup(STDERR_FILENO), fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
    CHECK(before >= 0 && fd >= 0 && dup2(fd, STDERR_FILENO) == STDERR_FILENO);
    body();
    CHECK(dup2(before, STDERR_FILENO) == STDERR_FILENO);
    ssize_t length = pread(fd, errors, sizeof errors - 1, 0);
    errors[length < 0 ? 0 : length] = 0;
    close(fd), close(before);
    return errors;
}

static void refuse_thrice(void) {
    for (int i = 0; i < 3; i++)
        sl_refusal_report(GPU, 3 * GIB, GIB, 2 * GIB);
}

static void attach(const char *refusals, const char *log, const char *memory) {
    setenv("SLUICE_MEMORY", memory, 1);
    refusals ? setenv("SLUICE_REFUSALS", refusals, 1) : unsetenv("SLUICE_REFUSALS");
    log ? setenv("SLUICE_LOG", log, 1) : unsetenv("SLUICE_LOG");
    char name[32];
    snprintf(name, sizeof name, "train-%d", (int)getpid());
    setenv("SLUICE_TENANT", name, 1);
    CHECK(sl_tenant_attach() == SL_TENANT_ATTACHED);
    sl_tenant.region.gpus[GPU].total_bytes = 16 * GIB;
}

static void expect(const char *memory, const char *advice) {
    char line[256];
    attach("tell", NULL, memory);
    snprintf(line, sizeof line, "sluice: train-%d: GPU 0: an allocation of 3.0 GiB was refused, 1.0 GiB of 2.0 GiB are used; "
             "'sluice set train-%d --memory %s' raises the limit\n", (int)getpid(), (int)getpid(), advice);
    CHECK(strcmp(errors_of(refuse_thrice), line) == 0, "%s, not %s", errors, line);
}

static void told(void) {
    expect("2g", "4g");
}

static void told_of_one_gpu(void) {
    expect("0=2g,1=8g", "0=4g");
}

static void refuse_more_than_there_is(void) {
    sl_refusal_report(GPU, 40 * GIB, GIB, 2 * GIB);
}

static void told_of_too_small_a_gpu(void) {
    attach("tell", NULL, "2g");
    CHECK(strstr(errors_of(refuse_more_than_there_is), "the GPU itself has 16.0 GiB") && !strstr(errors, "sluice set"), "%s", errors);
}

static void silent(void) {
    attach(NULL, NULL, "2g");
    CHECK(!*errors_of(refuse_thrice), "%s", errors);
}

static void silenced(void) {
    attach("quiet", NULL, "2g");
    CHECK(!*errors_of(refuse_thrice), "%s", errors);
}

static void silenced_by_its_log(void) {
    attach("tell", "error", "2g");
    CHECK(!*errors_of(refuse_thrice), "%s", errors);
}

static void logged(void) {
    attach("tell", "info", "2g");
    CHECK(strstr(errors_of(refuse_thrice), "memory quota of GPU 0") && !strstr(errors, "sluice set"), "%s", errors);
}

static void should_tell_of_a_refusal_once_in_a_while(void) {
    CHECK(in_child(told) == 0);
    CHECK(in_child(told_of_one_gpu) == 0);
    CHECK(in_child(told_of_too_small_a_gpu) == 0);
}

static void should_write_nothing_unless_asked(void) {
    CHECK(in_child(silent) == 0);
    CHECK(in_child(silenced) == 0);
    CHECK(in_child(silenced_by_its_log) == 0);
    CHECK(in_child(logged) == 0);
}

int main(void) {
    use_test_folder();
    RUN(should_tell_of_a_refusal_once_in_a_while);
    RUN(should_write_nothing_unless_asked);
    return 0;
}
