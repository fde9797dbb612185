// SPDX-License-Identifier: MIT
// Invocations that wait inside `catch`, in a destructor while an exception passes, and in the midst of nothing: each finds its
// own exceptions when it goes on. Run by test_exceptions.sh, as a program and as a library that a program in C loads.
#include <bcr.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

namespace {

enum { FIRST = 1, SECOND, THIRD, PLAIN, KEEPS, WAITS }; // cells: of the handlers; then those where their invocations wait
enum { CELLS = 12 };

std::string story;

void check(bool holds, const char *what)
{
    if (holds)
        return;
    std::fprintf(stderr, "FAIL %s; so far: %s\n", what, story.c_str());
    std::exit(1);
}

void put(int cell)
{
    check(bcr_enq(bcr_rgalloc(8, 0), bcr_cce, cell, bcr_FREE) == 0, "a put");
}

void take(int cell)
{
    bcr_region region = bcr_deq(bcr_cce, cell, bcr_BLOCK);
    check(region != nullptr && bcr_rgfree(region) == 0, "a get");
}

void wait_inside_catch(const char *name, int cell)
{
    try {
        try {
            throw std::runtime_error(name);
        } catch (const std::runtime_error &) {
            take(cell);
            throw;
        }
    } catch (const std::exception &again) {
        story += std::string(name) + ":" + again.what() + " ";
    }
    check(std::current_exception() == nullptr, "an exception is left");
}

struct waits_at_its_end {
    int cell;
    ~waits_at_its_end()
    {
        check(std::uncaught_exceptions() == 1, "one exception passes");
        take(cell);
        check(std::uncaught_exceptions() == 1, "one exception still passes");
    }
};

void on_first(int cell)
{
    take(cell);
    check(std::current_exception() == nullptr && std::uncaught_exceptions() == 0, "a handler begins with no exception");
    wait_inside_catch("first", WAITS);
}

void on_second(int cell)
{
    take(cell);
    wait_inside_catch("second", WAITS + 1);
}

void on_third(int cell)
{
    take(cell);
    try {
        const waits_at_its_end waits{WAITS + 2};
        throw std::runtime_error("third");
    } catch (const std::exception &own) {
        story += std::string("third:") + own.what() + " ";
    }
}

void on_plain(int cell)
{
    take(cell);
    check(std::current_exception() == nullptr && std::uncaught_exceptions() == 0, "nothing passes here");
    take(WAITS + 3);
    check(std::current_exception() == nullptr && std::uncaught_exceptions() == 0, "nothing passes here yet");
    story += "plain ";
}

// Never goes on. What only its stack knows is no leak.
void on_keeps(int cell)
{
    take(cell);
    std::string *const kept = new std::string(1000, 'x');
    take(WAITS + 4);
    delete kept;
}

void let_others_run()
{
    check(bcr_allow(0) == 0, "bcr_allow");
}

} // namespace

extern "C" int scene();

extern "C" int scene()
{
    check(bcr_cagrow(1, 0, CELLS, 0, 0, 100, 10000) == 1, "cells");
    check(bcr_handler(FIRST, on_first, 1, 0, 0) == 0 && bcr_handler(SECOND, on_second, 1, 0, 0) == 0 &&
              bcr_handler(THIRD, on_third, 1, 0, 0) == 0 && bcr_handler(PLAIN, on_plain, 1, 0, 0) == 0 &&
              bcr_handler(KEEPS, on_keeps, 1, 0, 0) == 0,
          "handlers");
    for (int round = 0; round < 3; round++) {
        story.clear();
        try {
            throw std::runtime_error("main");
        } catch (const std::exception &own) {
            for (int cell = FIRST; cell <= PLAIN; cell++) {
                put(cell);
                let_others_run();
            }
            // Not in the order in which they have begun to wait, nor the other way round.
            for (int which : {1, 3, 0, 2}) {
                put(WAITS + which);
                let_others_run();
            }
            try {
                throw;
            } catch (const std::exception &again) {
                check(&own == &again, "the main program's exception is its own");
            }
        }
        check(std::current_exception() == nullptr, "no exception is left");
        check(story == "second:second plain first:first third:third ", "each has its own");
    }
    put(KEEPS);
    let_others_run();
    std::puts("each has its own");
    return 0;
}

#ifndef EXCEPTIONS_LOADED
int main(int, char **argv)
{
    check(bcr_init(bcr_user_ca, argv[0]) == 0, "bcr_init");
    return scene();
}
#endif
