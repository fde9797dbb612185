/* SPDX-License-Identifier: MIT */
/*
 * camera -- frames of a camera go through a pipeline of CCEs, and to a screen; no frame is copied on its way.
 *
 *     camera --- bcr_enq ---> [ FRAMES ] blur -+- bcr_enq ----> [ FRAMES ] recorder
 *                                              '- bcr_write --> [ FRAMES ] screen
 *
 * A camera waits for nobody: a frame for which blur's cell has no room is dropped there, and counted.  What blur has
 * accepted the recorder gets, since blur waits for it.  The screen is slow and wants the newest frame only, which replaces
 * the one in its cell.
 *
 * Each frame is one region, which lies where the camera has made it until the last CCE frees it.  Blur changes it in
 * place, for nobody else holds it then; recorder and screen share it, since both only look at it.
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"
#include <time.h>

static const char USAGE[] =
    "usage: camera [frames [frames a second]]     (200 frames, 500 a second)\n"
    "Sends frames to a recorder, by way of a stage that blurs them, and to a slow screen.\n";

enum { FRAMES = 1, CRIES = 2, REPORTS = 3 }; /* cells: a stage's; the camera's, one for each kind of news */
enum { SCREEN = 1, BLUR, RECORDER };         /* ordinals; the camera, which is the root, has 0 */
enum {
    ROOM = 4 /* frames in a stage's cell */,
    WIDTH = 320,
    HEIGHT = 240,
    END = 0 /* in place of a serial */
};

struct frame {
    int serial; /* from 1 */
    unsigned char pixel[HEIGHT][WIDTH];
};

struct receivers {
    bcr_cce_id recorder, screen;
};
static const int RECEIVERS[] = {bcrD_STRUCT(struct receivers, (CCE, recorder), (CCE, screen))};

/* What a stage tells the camera at the end. */
struct report {
    int ord, frames, copied, last;
};
static const int REPORT[] = {
    bcrD_STRUCT(struct report, (INT, ord), (INT, frames), (INT, copied), (INT, last))};

static int rate = 500; /* frames a second, at the camera */

static struct frame *frame_in(bcr_region region)
{
    return *region;
}

static void wait_for_frames(int frames)
{
    const long long ns = 1000000000LL / rate * frames;
    nanosleep(&(struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = (long)(ns % 1000000000)}, NULL);
}

static unsigned char drawn(int serial, int x)
{
    return (unsigned char)(x + serial);
}

static unsigned char blurred(int left, int middle, int right)
{
    return (unsigned char)((left + middle + right) / 3);
}

/* --- the stages --- */

/* Grows the stage's cell, for so many frames, and tells the camera that it is there. */
static void join(int room)
{
    must(bcr_cagrow(FRAMES, 0, 1, 0, 0, room, 4096), "grow its cell");
    must(bcr_send(&bcr_cce, sizeof bcr_cce, bcrT_1CCE, 1, bcr_enlistor, CRIES, 1, 0), "tell its ID");
}

static bcr_region next_frame(void)
{
    return must_have(bcr_deq(bcr_cce, FRAMES, bcr_BLOCK), "take a frame");
}

static void report(struct report report)
{
    report.ord = bcr_cceord;
    must(bcr_send(&report, sizeof report, REPORT, 1, bcr_enlistor, REPORTS, 1, 0), "report");
}

static void be_screen(void)
{
    struct report shown = {0};
    join(1);
    for (;; wait_for_frames(7)) { /* a slow one */
        bcr_region region = next_frame();
        const int serial = frame_in(region)->serial;
        must(bcr_rgfree(region), "free a frame");
        if (serial == END)
            break;
        must_hold(serial > shown.last, "the screen never shows an older frame than before");
        shown.last = serial;
        shown.frames++;
    }
    report(shown);
}

static void blur(struct frame *frame)
{
    for (int y = 0; y < HEIGHT; y++) {
        unsigned char *row = frame->pixel[y], left = row[0];
        for (int x = 0; x < WIDTH; x++) {
            const unsigned char middle = row[x];
            row[x] = blurred(left, middle, row[x < WIDTH - 1 ? x + 1 : x]);
            left = middle;
        }
    }
}

/* The birth region of a blurring CCE says where frames go.  IDs travel by descriptors only. */
static void be_blur(void)
{
    struct receivers to;
    struct report done = {0};
    must_copy(bcr_recv(&to, sizeof to, RECEIVERS, 1, bcr_cce, 0, 1, 0), "read who gets the frames");
    join(ROOM);
    for (;;) {
        bcr_region region = next_frame();
        if (frame_in(region)->serial == END) {
            must(bcr_enq(region, to.screen, FRAMES, bcr_NOFREE),
                 "end the screen"); /* behind the last frame */
            must(bcr_enq(region, to.recorder, FRAMES, bcr_FREE), "end the recorder");
            break;
        }
        const struct frame *const before = frame_in(region);
        must(bcr_rgmod(region), "have a frame for itself"); /* a copy, if others held it as well */
        done.copied += frame_in(region) != before;
        blur(frame_in(region));
        done.frames++;
        done.last = frame_in(region)->serial;
        must(bcr_write(region, to.screen, FRAMES, bcr_NOFREE),
             "show a frame"); /* this CCE holds it as well */
        must(bcr_enq(region, to.recorder, FRAMES, bcr_FREE),
             "pass a frame on"); /* waits while there is no room */
    }
    report(done);
}

static void be_recorder(void)
{
    struct report recorded = {0};
    join(ROOM);
    for (;;) {
        bcr_region region = next_frame();
        const struct frame *const frame = frame_in(region);
        const int serial = frame->serial;
        if (serial != END) {
            must_hold(serial > recorded.last, "frames come in their order, and none twice");
            for (int x = 1; x < WIDTH - 1; x++)
                must_hold(frame->pixel[HEIGHT - 1][x] ==
                              blurred(drawn(serial, x - 1), drawn(serial, x), drawn(serial, x + 1)),
                          "each frame is blurred once");
            recorded.last = serial;
            recorded.frames++;
        }
        must(bcr_rgfree(region), "free a frame");
        if (serial == END)
            break;
    }
    report(recorded);
}

/* --- the camera --- */

/* Starts a stage; its birth region is free afterwards.  Returns its ID. */
static bcr_cce_id start(const char *program, int ord, bcr_region birth)
{
    bcr_cce_id cce;
    must(bcr_enlist(NULL, -1, ord, program, birth, bcr_FREE), "enlist a stage");
    must_copy(bcr_recv(&cce, sizeof cce, bcrT_1CCE, 1, bcr_cce, CRIES, 1, bcr_BLOCK), "hear from a stage");
    return cce;
}

static bcr_region birth_with(const void *data, int bytes, const int *type)
{
    bcr_region region = must_have(bcr_rgalloc(64, 0), "allocate a birth region");
    must_copy(bcr_copyto(type, 1, region, 0, data, bytes), "write a birth region");
    return region;
}

static bcr_region take_picture(int serial)
{
    bcr_region region = must_have(bcr_rgalloc(sizeof(struct frame), 0), "allocate a frame");
    struct frame *const frame = frame_in(region);
    frame->serial = serial;
    for (int y = 0; serial != END && y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            frame->pixel[y][x] = drawn(serial, x);
    return region;
}

static void lead(const char *program, int frames)
{
    int dropped = 0;
    struct report of[RECORDER + 1];
    /* Alive at a time: the frames in the cells of blur, recorder and screen, and one in the hands of each CCE.  Twice their
     * bytes is enough, whatever their size. */
    must(bcr_cagrow(FRAMES, 0, 3, 0, 0, RECORDER, 2 * ((2 * ROOM + 5) * (int)sizeof(struct frame) + 4096)),
         "grow its cells");
    struct receivers ends = {.recorder = start(program, RECORDER, NULL)};
    ends.screen = start(program, SCREEN, birth_with(&rate, sizeof rate, bcrT_1INT));
    const bcr_cce_id stage = start(program, BLUR, birth_with(&ends, sizeof ends, RECEIVERS));

    must(bcr_putwait(0), "never wait for room"); /* a put that would have to wait fails */
    for (int serial = 1; serial <= frames; serial++, wait_for_frames(1)) {
        bcr_region region = take_picture(serial);
        if (bcr_enq(region, stage, FRAMES, bcr_FREE) == 0)
            continue;
        must_hold(bcr_errno == bcrE_FULL, "a frame is dropped for want of room only");
        must(bcr_rgfree(region), "free a frame that was dropped");
        dropped++;
    }
    must(bcr_putwait(bcr_BLOCK), "wait for room");
    must(bcr_enq(take_picture(END), stage, FRAMES, bcr_FREE), "end the pipeline");

    for (int i = SCREEN; i <= RECORDER; i++) {
        struct report next;
        must_copy(bcr_recv(&next, sizeof next, REPORT, 1, bcr_cce, REPORTS, 1, bcr_BLOCK), "take a report");
        of[next.ord] = next;
    }
    printf("camera: %d frames, %d dropped, %d recorded, %d copied, %d shown\n", frames, dropped,
           of[RECORDER].frames, of[BLUR].copied, of[SCREEN].frames);
    must_hold(of[BLUR].frames == frames - dropped && of[RECORDER].frames == of[BLUR].frames,
              "what was not dropped is recorded");
    must_hold(of[RECORDER].last == of[BLUR].last && of[SCREEN].last == of[BLUR].last,
              "so is the last frame, and it is shown");
    must_hold(of[BLUR].copied == 0, "no frame is copied");
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 2, USAGE);
    const int frames = args_number(argc, argv, 1, "frames", 200, 1, 1000000);
    rate = args_number(argc, argv, 2, "frames a second", rate, 1, 100000);
    must_init(0, argv[0]);
    if (bcr_enlistor < 0) {
        lead(argv[0], frames);
    } else if (bcr_cceord == SCREEN) {
        must_copy(bcr_recv(&rate, sizeof rate, bcrT_1INT, 1, bcr_cce, 0, 1, 0), "read the rate");
        be_screen();
    } else if (bcr_cceord == BLUR) {
        be_blur();
    } else {
        be_recorder();
    }
    return EXIT_SUCCESS;
}
