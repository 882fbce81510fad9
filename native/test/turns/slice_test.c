/* The choice of slices, for all views of two processes of different tenants at once. */
#include "check.h"

#include "turns/slice.h"

enum { BITS = 6 };

static sl_slice_view_t view_of(unsigned bits, sl_seen_rank_t rank) {
    return (sl_slice_view_t){.rank = rank, .takes_turns = bits & 1, .has_turn = bits & 2, .works = bits & 4, .is_divided = bits & 8, .any_silent = bits & 16, .any_beside = bits & 32};
}

static bool may_work(const sl_slice_view_t *view) {
    return view->takes_turns ? view->works || view->has_turn : true;
}

/* What each sees of the other is true: one that takes no turns is silent, and both have worked. */
static bool is_possible(const sl_slice_view_t *one, const sl_slice_view_t *other) {
    bool turns = !(one->has_turn && other->has_turn) && (one->takes_turns || !one->has_turn) && (other->takes_turns || !other->has_turn);
    return turns && one->any_beside && other->any_beside && (other->takes_turns || one->any_silent) && (one->takes_turns || other->any_silent);
}

/* With the shortest slice each, neither gets anywhere. */
static void should_never_give_two_that_work_the_shortest_slice(void) {
    unsigned possible = 0;
    for (unsigned a = 0; a < 1u << BITS; a++)
        for (unsigned b = 0; b < 1u << BITS; b++) {
            sl_slice_view_t one = view_of(a, SL_SEEN_BELOW), other = view_of(b, SL_SEEN_BELOW);
            if (!is_possible(&one, &other) || !may_work(&one) || !may_work(&other))
                continue;
            possible++;
            bool both = sl_slice_choose(&one) == SL_SLICE_ALONE_MICROS && sl_slice_choose(&other) == SL_SLICE_ALONE_MICROS;
            CHECK(!both, "views 0x%x and 0x%x", a, b);
        }
    CHECK(possible > 100, "%u", possible);
}

/* A tenant of high priority waits for one slice at most. */
static void should_be_short_below(void) {
    for (unsigned bits = 0; bits < 1u << BITS; bits++) {
        sl_slice_view_t below = view_of(bits, SL_SEEN_BELOW);
        uint32_t micros = sl_slice_choose(&below);
        CHECK(micros && micros <= SL_SEEN_SHORT_MICROS, "view 0x%x: %u us", bits, micros);
    }
}

/* The work that has the turn, and nobody beside it, makes no high tenant wait. */
static void should_be_shortest_for_the_only_work(void) {
    sl_slice_view_t single = {.rank = SL_SEEN_BELOW, .takes_turns = true, .has_turn = true, .works = true, .any_beside = true};
    CHECK(sl_slice_choose(&single) == SL_SLICE_ALONE_MICROS);
    single.takes_turns = single.has_turn = single.works = single.any_beside = false;
    CHECK(sl_slice_choose(&single) == SL_SLICE_ALONE_MICROS);
}

static void should_leave_others_alone(void) {
    for (unsigned bits = 0; bits < 1u << BITS; bits++) {
        sl_slice_view_t in_turns = view_of(bits, SL_SEEN_IN_TURNS), above = view_of(bits, SL_SEEN_ABOVE);
        CHECK(sl_slice_choose(&in_turns) == 0);
        CHECK(sl_slice_choose(&above) == (above.is_divided ? 0 : SL_SLICE_OUTSIDE_MICROS));
    }
}

int main(int argc, char **argv) {
    (void)argc;
    (void)argv;
    RUN(should_never_give_two_that_work_the_shortest_slice);
    RUN(should_be_short_below);
    RUN(should_be_shortest_for_the_only_work);
    RUN(should_leave_others_alone);
    return 0;
}
