/* Of many processes one makes the region. A region of another layout is refused, and that of an ended tenant is replaced. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <dirent.h>

#include "os/os.h"
#include "tenant/region.h"
#include "tenant/slots.h"

static uint64_t memory_bytes[16] = {1 << 20};
static sl_reason_t reason;

static sl_region_draft_t draft_of(const char *tenant) {
    sl_slots_owner_t self;
    CHECK(sl_slots_self(&self, &reason));
    return (sl_region_draft_t){.tenant = tenant, .root_identity = self.identity, .memory_bytes = memory_bytes};
}

static int files_in_folder(void) {
    int files = 0;
    DIR *folder = opendir(test_folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        files += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return files;
}

static void path_of(const char *tenant, char path[256]) {
    snprintf(path, 256, "%s/%s.region", test_folder, tenant);
}

static void should_make_one_region_of_many_makers(void) {
    enum { MAKERS = 24 };
    uint64_t *created = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sl_region_draft_t draft = draft_of("race");
    for (int i = 0; i < MAKERS; i++)
        if (fork() == 0) {
            sl_region_t region;
            while (!__atomic_load_n(&created[MAKERS], __ATOMIC_ACQUIRE))
                ;
            CHECK(sl_region_open_or_create(&region, &draft, &reason), "%s", reason.text);
            created[i] = region.header->created_nanos;
            _exit(0);
        }
    __atomic_store_n(&created[MAKERS], 1, __ATOMIC_RELEASE);
    for (int i = 0, status; i < MAKERS; i++)
        CHECK(wait(&status) > 0 && status == 0);
    for (int i = 0; i < MAKERS; i++)
        CHECK(created[i] && created[i] == created[0], "maker %d has another region", i);
    CHECK(files_in_folder() == 1);
}

static void should_hold_what_the_draft_says(void) {
    sl_region_t region;
    sl_region_draft_t draft = draft_of("draft");
    draft.shares = &(sl_shares_t){.compute_permille = {0, 250}, .turns = true, .weight = 3, .priority = -1, .exclusive = true,
                                  .turn_micros = 500};
    umask(0777);
    CHECK(sl_region_open_or_create(&region, &draft, &reason), "%s", reason.text);
    umask(022);
    struct stat status;
    char path[256];
    path_of("draft", path);
    CHECK(stat(path, &status) == 0 && (status.st_mode & 07777) == 0600 && status.st_size == SL_REGION_BYTES);
    CHECK((int64_t)status.st_blocks * 512 >= SL_REGION_BYTES, "has holes");
    CHECK(strcmp(region.header->tenant, "draft") == 0 && region.header->layout == SL_REGION_LAYOUT);
    CHECK(region.limits->memory_bytes[0] == 1 << 20 && region.limits->memory_bytes[1] == 0);
    const sl_region_limits_t *limits = region.limits;
    CHECK(limits->compute_permille[0] == 0 && limits->compute_permille[1] == 250 && limits->turns == 1);
    CHECK(limits->weight == 3 && limits->priority == -1 && limits->exclusive == 1 && limits->turn_micros == 500);
    CHECK(region.shares[15].used_nanos == 0 && (char *)&region.shares[16] <= region.base + SL_REGION_BYTES);
    CHECK(strstr(region.header->command, "region_test"), "%s", region.header->command);
    sl_region_close(&region);
}

static void write_page_0(void) {
    sl_region_t region;
    sl_region_draft_t draft = draft_of("draft");
    CHECK(sl_region_open_or_create(&region, &draft, &reason), "%s", reason.text);
    *(volatile uint64_t *)region.limits->memory_bytes = 1;
}

static void should_protect_page_0(void) {
    CHECK(in_child(write_page_0) == 128 + SIGSEGV);
}

static void patch(const char *tenant, long offset, uint32_t value) {
    char path[256];
    path_of(tenant, path);
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0 && pwrite(fd, &value, sizeof value, offset) == sizeof value);
    close(fd);
}

static void should_refuse_other_layouts_and_files(void) {
    sl_region_t region;
    char path[256];
    path_of("draft", path);
    patch("draft", offsetof(sl_region_header_t, layout), 99);
    CHECK(!sl_region_open(&region, path, &reason));
    char own[16];
    snprintf(own, sizeof own, "layout %d", SL_REGION_LAYOUT);
    CHECK(strstr(reason.text, "layout 99") && strstr(reason.text, own), "%s", reason.text);
    patch("draft", 0, 0);
    CHECK(!sl_region_open(&region, path, &reason) && strstr(reason.text, "is not a region"), "%s", reason.text);
    CHECK(truncate(path, 100) == 0 && !sl_region_open(&region, path, &reason));
    CHECK(!sl_region_open(&region, test_folder, &reason) && !sl_region_open(&region, "/dev/null", &reason));
    CHECK(!sl_region_open(&region, "/nowhere/x.region", &reason) && strstr(reason.text, "No such file"));
}

static void patch_format(const sl_region_format_t *format, const char *tenant) {
    char path[256];
    path_of(tenant, path);
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0 && pwrite(fd, format, sizeof *format, SL_REGION_FORMAT_OFFSET) == sizeof *format);
    close(fd);
}

static const char known_features[] = "places pause room";

/* A file of the next revision: one more field, one more record, and an offered feature that readers need not know. */
static void should_open_a_region_of_the_next_revision(void) {
    sl_region_t region;
    sl_region_draft_t draft = draft_of("next");
    char path[256];
    path_of("next", path);
    CHECK(sl_region_open_or_create(&region, &draft, &reason), "%s", reason.text);
    sl_region_format_t format = *(const sl_region_format_t *)(region.base + SL_REGION_FORMAT_OFFSET), next = format;
    CHECK(format.features_offered == SL_REGION_FEATURES && strchr(format.version, '.') && strcmp(format.feature_names, known_features) == 0);
    sl_region_close(&region);
    next.revision++;
    next.place_offset[next.places] = SL_REGION_BYTES - 4096;
    next.place_bytes[next.places] = next.place_count[next.places] = 64;
    next.places++;
    uint64_t unknown = SL_REGION_FEATURES + 1;
    next.features_offered |= unknown;
    snprintf(next.version, sizeof next.version, "9.9.9");
    snprintf(next.feature_names, sizeof next.feature_names, "%s tides", known_features);
    patch_format(&next, "next");
    CHECK(sl_region_open(&region, path, &reason), "%s", reason.text);
    sl_region_close(&region);
    next.features_required = unknown;
    patch_format(&next, "next");
    CHECK(!sl_region_open(&region, path, &reason) && strstr(reason.text, "'tides' (bit 3)") && strstr(reason.text, "Sluice 9.9.9"), "%s", reason.text);
    next.features_required = 1ull << 63;
    patch_format(&next, "next");
    CHECK(!sl_region_open(&region, path, &reason) && strstr(reason.text, "'' (bit 63)"), "%s", reason.text);
    next.features_required = 1;
    next.place_bytes[5] *= 2;
    patch_format(&next, "next");
    CHECK(!sl_region_open(&region, path, &reason) && strstr(reason.text, "its slot records at other places"), "%s", reason.text);
    memset(&next, 0, sizeof next);
    patch_format(&next, "next");
    CHECK(!sl_region_open(&region, path, &reason) && strstr(reason.text, "no table"), "%s", reason.text);
}

static void make_and_end(void) {
    sl_region_t region;
    sl_region_draft_t draft = draft_of("again");
    memory_bytes[0] = 5;
    CHECK(sl_region_open_or_create(&region, &draft, &reason), "%s", reason.text);
}

static void should_replace_an_ended_tenant(void) {
    CHECK(in_child(make_and_end) == 0);
    sl_region_t region;
    sl_region_draft_t draft = draft_of("again");
    CHECK(sl_region_open_or_create(&region, &draft, &reason), "%s", reason.text);
    CHECK(region.limits->memory_bytes[0] == 1 << 20, "the old region was taken");
    sl_region_close(&region);
}

static void should_keep_a_tenant_that_has_a_live_process(void) {
    sl_region_t region, other;
    sl_slots_owner_t self;
    sl_region_draft_t draft = draft_of("kept");
    draft.root_identity = 1ull << 50 | 3; /* nobody */
    CHECK(!sl_region_open_or_create(&region, &draft, &reason), "a tenant without any process ends at once");
    draft = draft_of("kept");
    CHECK(sl_region_open_or_create(&region, &draft, &reason) && sl_slots_self(&self, &reason));
    CHECK(sl_slots_claim(&region, &self, &reason) == 0);
    patch("kept", offsetof(sl_region_header_t, root_identity), 3);
    patch("kept", offsetof(sl_region_header_t, root_identity) + 4, 1 << 18);
    draft.memory_bytes = (uint64_t[16]){9};
    CHECK(sl_region_open_or_create(&other, &draft, &reason) && other.limits->memory_bytes[0] == 1 << 20);
}

static void begin_and_take_part(void) {
    sl_region_t region;
    sl_slots_owner_t self;
    sl_region_draft_t draft = draft_of("within");
    memory_bytes[0] = 5;
    CHECK(sl_region_open_or_create(&region, &draft, &reason), "%s", reason.text);
    CHECK(sl_slots_self(&self, &reason) && sl_slots_claim(&region, &self, &reason) == 0);
    raise(SIGKILL);
}

/* The kernel does not deliver signals that the first process of a namespace sends to itself. */
static void begin_namespace(void) {
    CHECK(in_child(begin_and_take_part) == 128 + SIGKILL);
}

static void begin_within(void) {
    if (unshare(CLONE_NEWPID) != 0)
        _exit(SKIPPED);
    CHECK(in_child(begin_namespace) == 0);
}

static void should_free_the_name_of_a_tenant_killed_in_another_namespace(void) {
    int began = in_child(begin_within);
    if (began == SKIPPED) {
        printf("  skipped: a pid namespace needs root\n");
        return;
    }
    CHECK(began == 0);
    sl_region_t region;
    sl_region_draft_t draft = draft_of("within");
    CHECK(sl_region_open_or_create(&region, &draft, &reason), "%s", reason.text);
    CHECK(region.limits->memory_bytes[0] == 1 << 20, "the dead tenant has the name");
    sl_region_close(&region);
}

static void wait_for_first_process(void) {
    sl_region_t region;
    sl_region_draft_t draft = draft_of("slow");
    memory_bytes[0] = 5;
    CHECK(sl_region_open_or_create(&region, &draft, &reason), "%s", reason.text);
}

static void begin_slowly_within(void) {
    if (unshare(CLONE_NEWPID) != 0)
        _exit(SKIPPED);
    CHECK(in_child(wait_for_first_process) == 0);
}

static void should_keep_a_young_tenant_of_another_namespace(void) {
    if (in_child(begin_slowly_within) == SKIPPED)
        return;
    sl_region_t region;
    sl_region_draft_t draft = draft_of("slow");
    CHECK(sl_region_open_or_create(&region, &draft, &reason), "%s", reason.text);
    CHECK(region.limits->memory_bytes[0] == 5, "its first process had no time to take part");
    sl_region_close(&region);
}

static void should_sweep_what_ended_tenants_left(void) {
    int before = files_in_folder();
    char path[256], temporary[256];
    path_of("auto-1-1", path);
    char region[256];
    path_of("again", region);
    CHECK(link(region, path) == 0);
    patch("auto-1-1", offsetof(sl_region_header_t, root_identity), 3);
    patch("auto-1-1", offsetof(sl_region_header_t, root_identity) + 4, 1 << 18);
    snprintf(temporary, sizeof temporary, "%s/.x.1.tmp", test_folder);
    close(open(temporary, O_CREAT | O_WRONLY, 0600));
    struct timespec old[2] = {{1000, 0}, {1000, 0}};
    CHECK(utimensat(AT_FDCWD, temporary, old, 0) == 0 && utimensat(AT_FDCWD, path, old, 0) == 0);
    sl_region_t fresh;
    sl_region_draft_t draft = draft_of("fresh");
    CHECK(sl_region_open_or_create(&fresh, &draft, &reason));
    CHECK(files_in_folder() == before + 1 && access(path, F_OK) != 0 && access(temporary, F_OK) != 0);
}

static void create_under(const char *needle) {
    sl_region_t region;
    sl_region_draft_t draft = draft_of("nospace");
    CHECK(!sl_region_open_or_create(&region, &draft, &reason));
    CHECK(strstr(reason.text, needle) && strstr(reason.text, "SLUICE_RUNTIME_DIR"), "%s", reason.text);
    CHECK(access("/proc/self", F_OK) == 0);
}

static void create_with_small_files(void) {
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
    create_under("cannot make region");
}

static void create_in_open_folder(void) {
    chmod(test_folder, 0755);
    create_under("mode 700");
}

static void mount_small(const char *options, unsigned long flags) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", test_folder, "tmpfs", flags, options) != 0)
        _exit(SKIPPED);
}

static void create_in_full_folder(void) {
    mount_small("size=64k,mode=700", 0);
    create_under("cannot make region");
}

static void create_in_read_only_folder(void) {
    mount_small("mode=700", MS_RDONLY);
    create_under("Read-only file system");
}

static void should_say_why_no_region_can_be_made(void) {
    CHECK(in_child(create_with_small_files) == 0);
    int full = in_child(create_in_full_folder), read_only = in_child(create_in_read_only_folder);
    if (full == SKIPPED)
        printf("  full and read-only folders skipped: mounting a tmpfs needs root\n");
    CHECK((full == 0 || full == SKIPPED) && (read_only == 0 || read_only == SKIPPED));
    CHECK(in_child(create_in_open_folder) == 0);
    chmod(test_folder, 0700);
}

int main(void) {
    use_test_folder();
    RUN(should_make_one_region_of_many_makers);
    RUN(should_hold_what_the_draft_says);
    RUN(should_protect_page_0);
    RUN(should_refuse_other_layouts_and_files);
    RUN(should_open_a_region_of_the_next_revision);
    RUN(should_replace_an_ended_tenant);
    RUN(should_keep_a_tenant_that_has_a_live_process);
    RUN(should_free_the_name_of_a_tenant_killed_in_another_namespace);
    RUN(should_keep_a_young_tenant_of_another_namespace);
    RUN(should_sweep_what_ended_tenants_left);
    RUN(should_say_why_no_region_can_be_made);
    return 0;
}
