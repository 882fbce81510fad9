/* A program's operations take the lock, drain their stream and let the lock go where culocker's users expect it. What is
 * to be done is written as one letter each: A acquire, D drain, R release, and o for the operation itself. */
#include "check.h"

#include "turns/window.h"

#define MICROSECOND 1000ull
#define MILLISECOND 1000000ull

static sl_window_t window;
static char log_text[256];
static uint64_t now;
static bool held;

static void note(char letter) {
    size_t length = strlen(log_text);
    CHECK(length + 1 < sizeof log_text);
    log_text[length] = letter;
    log_text[length + 1] = 0;
}

/* Carries out the decision like the library, and checks that the lock is never acquired or released twice. */
static void carry_out(unsigned action, bool acquire_first) {
    if (acquire_first && action & SL_WINDOW_ACQUIRE) {
        CHECK(!held);
        held = true;
        note('A');
    }
    if (action & SL_WINDOW_DRAIN)
        note('D');
    if (action & SL_WINDOW_RELEASE) {
        CHECK(held);
        held = false;
        note('R');
    }
    if (!acquire_first && action & SL_WINDOW_ACQUIRE) {
        CHECK(!held);
        held = true;
        note('A');
    }
}

static void operate(sl_window_operation_t operation) {
    unsigned action = sl_window_before(&window, operation, now);
    carry_out(action, true);
    if (action & SL_WINDOW_DRAIN)
        carry_out(sl_window_drained(&window, now), false);
    CHECK(held, "an operation without the lock");
    note('o');
    carry_out(sl_window_after(&window, operation), false);
}

static void launch(int times) {
    for (int i = 0; i < times; i++)
        operate(SL_WINDOW_SUBMITS);
}

static void copy(void) {
    operate(SL_WINDOW_WAITS);
}

static void synchronize(void) {
    carry_out(sl_window_synced(&window), false);
}

static void begin(sl_options_windows_t settings) {
    sl_window_begin(&window, &settings);
    log_text[0] = 0;
    now = 1000 * MILLISECOND;
    held = false;
}

#define EXPECT(text) CHECK(strcmp(log_text, text) == 0, "%s", log_text)

static void should_begin_a_window_with_each_operation_at_0(void) {
    begin((sl_options_windows_t){.mode = SL_WINDOWS_COUNT, .operations = 0});
    launch(3);
    EXPECT("ADRAo" "DRAo" "DRAo");
    CHECK(held, "the lock is held after it");
}

static void should_have_windows_of_3_then_4_at_3(void) {
    begin((sl_options_windows_t){.mode = SL_WINDOWS_COUNT, .operations = 3});
    launch(12);
    EXPECT("Aooo" "DRAoooo" "DRAoooo" "DRAo");
}

static void should_have_windows_of_10_then_11_at_10(void) {
    begin((sl_options_windows_t){.mode = SL_WINDOWS_COUNT, .operations = 10});
    launch(33);
    EXPECT("Aoooooooooo" "DRAooooooooooo" "DRAooooooooooo" "DRAo");
}

static void should_count_anew_after_the_program_synchronized(void) {
    begin((sl_options_windows_t){.mode = SL_WINDOWS_COUNT, .operations = 3});
    launch(2);
    synchronize();
    synchronize();
    launch(4);
    EXPECT("AooR" "Aooo" "DRAo");
}

static void should_let_go_after_copies_that_wait(void) {
    begin((sl_options_windows_t){.mode = SL_WINDOWS_COUNT, .operations = 3});
    copy();
    launch(3);
    copy();
    copy();
    EXPECT("AoDR" "AooooDR" "AoDR");
}

static void should_drain_first_and_then_after_each_window_of_time(void) {
    begin((sl_options_windows_t){.mode = SL_WINDOWS_TIME, .window_nanos = 2 * MILLISECOND});
    launch(3);
    EXPECT("ADRAooo");
    now += 2 * MILLISECOND;
    launch(1);
    EXPECT("ADRAooo" "o");
    now += 1;
    launch(2);
    EXPECT("ADRAooo" "o" "DRAoo");
    now += 10 * MILLISECOND; /* no timer: it is looked at with the next operation */
    EXPECT("ADRAooo" "o" "DRAoo");
    launch(1);
    EXPECT("ADRAooo" "o" "DRAoo" "DRAo");
}

static void should_count_time_from_the_last_forced_drain(void) {
    begin((sl_options_windows_t){.mode = SL_WINDOWS_TIME, .window_nanos = 2 * MILLISECOND});
    launch(1);
    now += 3 * MILLISECOND / 2;
    synchronize();
    launch(1);
    EXPECT("ADRAo" "R" "Ao");
    now += MILLISECOND; /* of this hold 1 ms, but 2.5 ms since the drain */
    launch(1);
    EXPECT("ADRAo" "R" "Ao" "DRAo");
}

static void should_drain_before_nearly_all_at_a_microsecond(void) {
    begin((sl_options_windows_t){.mode = SL_WINDOWS_TIME, .window_nanos = MICROSECOND});
    for (int i = 0; i < 3; i++) {
        now += 5 * MICROSECOND;
        launch(1);
    }
    now += MICROSECOND;
    launch(1);
    EXPECT("ADRAo" "DRAo" "DRAo" "o");
}

static void should_hold_for_one_operation_when_always(void) {
    begin((sl_options_windows_t){.mode = SL_WINDOWS_ALWAYS});
    launch(2);
    copy();
    synchronize();
    EXPECT("AoDR" "AoDR" "AoDR");
}

static void should_let_go_with_every_second_sync_at_1_skip(void) {
    begin((sl_options_windows_t){.mode = SL_WINDOWS_COUNT, .operations = 10, .skips = 1});
    for (int i = 0; i < 4; i++) {
        launch(1);
        synchronize();
    }
    EXPECT("Ao" "oR" "Ao" "oR");
}

static void should_set_nothing_back_when_it_skips(void) {
    begin((sl_options_windows_t){.mode = SL_WINDOWS_COUNT, .operations = 3, .skips = 1});
    launch(6);
    EXPECT("Aooo" "Do" "DRAo" "o");
    begin((sl_options_windows_t){.mode = SL_WINDOWS_COUNT, .operations = 3, .skips = 2});
    launch(1);
    copy();
    launch(3);
    EXPECT("Ao" "o" "oo" "Do");
}

static void should_count_a_skip_without_the_lock_too(void) {
    begin((sl_options_windows_t){.mode = SL_WINDOWS_COUNT, .operations = 10, .skips = 1});
    launch(1);
    synchronize();
    synchronize();
    EXPECT("Ao" "R");
    synchronize(); /* the lock is free: this sync is skipped, and the next releases the lock again */
    launch(1);
    synchronize();
    EXPECT("Ao" "R" "Ao" "R");
}

static void should_take_a_lost_lock_again(void) {
    begin((sl_options_windows_t){.mode = SL_WINDOWS_COUNT, .operations = 2});
    launch(2);
    sl_window_lost(&window);
    held = false;
    launch(3);
    EXPECT("Aoo" "Aoo" "DRAo");
}

int main(void) {
    RUN(should_begin_a_window_with_each_operation_at_0);
    RUN(should_have_windows_of_3_then_4_at_3);
    RUN(should_have_windows_of_10_then_11_at_10);
    RUN(should_count_anew_after_the_program_synchronized);
    RUN(should_let_go_after_copies_that_wait);
    RUN(should_drain_first_and_then_after_each_window_of_time);
    RUN(should_count_time_from_the_last_forced_drain);
    RUN(should_drain_before_nearly_all_at_a_microsecond);
    RUN(should_hold_for_one_operation_when_always);
    RUN(should_let_go_with_every_second_sync_at_1_skip);
    RUN(should_set_nothing_back_when_it_skips);
    RUN(should_count_a_skip_without_the_lock_too);
    RUN(should_take_a_lost_lock_again);
    return 0;
}
