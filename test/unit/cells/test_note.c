/* SPDX-License-Identifier: MIT */
/* bcr_note: what is kept of a text; and a note that is read while another process sets it, and after that was killed in
 * the midst of it, is whole or none. */
#include <bcr/program.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/cces.h"
#include "bcri/note.h"
#include "cce.h"

static struct bcri_note got;

static bool is_noted(const struct bcri_ctx *ctx)
{
    memset(&got, 0x55, sizeof got);
    return bcri_note_read(&ctx->record->note, &got);
}

TEST(a_note_has_its_text_and_names_a_cce)
{
    begin();
    CHECK(!is_noted(one));
    CHECK_INT(bcr_note("crecv type 5 from node 2", two_of_one), 0);
    CHECK(is_noted(one) && bcri_note_names(&one->record->note));
    CHECK_STR(got.text, "crecv type 5 from node 2");
    CHECK_MEM(got.cce, two->record->id.identity, sizeof got.cce);
    CHECK(!is_noted(two));
    CHECK_INT(bcr_note("gsync", -1), 0);
    CHECK(is_noted(one) && bcri_identity_is_none(got.cce) && !bcri_note_names(&one->record->note));
    CHECK_STR(got.text, "gsync");
    CHECK_INT(bcr_note(NULL, two_of_one), 0);
    CHECK(!is_noted(one));
    CHECK_INT(bcr_note("of itself", bcr_cce), 0);
    CHECK(is_noted(one));
    CHECK_MEM(got.cce, one->record->id.identity, sizeof got.cce);
    CHECK_INT(bcr_note("", 99), 0);
    CHECK(!is_noted(one) && !bcri_note_names(&one->record->note));
    end();
}

TEST(an_id_that_was_never_given_out_leaves_the_note_alone)
{
    begin();
    CHECK_INT(bcr_note("before", -1), 0);
    FAILS(bcr_note("after", 0), bcrE_NOCCE);
    FAILS(bcr_note("after", -2), bcrE_NOCCE);
    FAILS(bcr_note("after", 99), bcrE_NOCCE);
    CHECK(is_noted(one));
    CHECK_STR(got.text, "before");
    struct bcri_ctx *three = join();
    const int id = name(one, three);
    leave(three);
    CHECK_INT(bcr_note("of one that has ended", id), 0);
    CHECK(is_noted(one));
    end();
}

/* `characters` of UTF-8 after `before` letters. */
static const char *text_of(size_t before, const char *character)
{
    static char text[2 * BCRI_NOTE_BYTES];
    memset(text, 'a', before);
    text[before] = '\0';
    while (strlen(text) + strlen(character) < sizeof text)
        strcat(text, character);
    return text;
}

TEST(a_long_text_is_cut_between_characters)
{
    static const char *const characters[] = {"b", "\u00e9", "\u20ac", "\U0001f40c"};
    begin();
    for (size_t i = 0; i < sizeof characters / sizeof characters[0]; i++)
        for (size_t before = 0; before < 8; before++) {
            const size_t bytes = strlen(characters[i]);
            const size_t kept = before + (bcr_NOTE_MAX - before) / bytes * bytes;
            const char *text = text_of(before, characters[i]);
            CHECK_INT(bcr_note(text, -1), 0);
            CHECK(is_noted(one));
            CHECK_UINT(strlen(got.text), kept);
            CHECK_MEM(got.text, text, kept);
        }
    CHECK_INT(bcr_note(text_of(0, "\x80"), -1), 0); /* not UTF-8: no more than a character is left out */
    CHECK(is_noted(one));
    CHECK_UINT(strlen(got.text), bcr_NOTE_MAX - 3);
    for (size_t length = 1; length <= bcr_NOTE_MAX; length++) {
        char text[bcr_NOTE_MAX + 1];
        memset(text, 'c', length);
        text[length] = '\0';
        CHECK_INT(bcr_note(text, -1), 0);
        CHECK(is_noted(one));
        CHECK_STR(got.text, text);
    }
    end();
}

TEST(what_makes_no_sense_is_no_note)
{
    begin();
    CHECK_INT(bcr_note("a text", -1), 0);
    const uint64_t state = bcri_load(&one->record->note.state) & ~UINT64_C(0xffffffff);
    bcri_store(&one->record->note.state, (state + (UINT64_C(1) << 32)) | 6); /* as if it had died there */
    CHECK(!is_noted(one));
    CHECK_INT(bcr_note("another", -1), 0);
    CHECK(is_noted(one));
    bcri_store(&one->record->note.state, state | BCRI_NOTE_BYTES);
    CHECK(is_noted(one));
    bcri_store(&one->record->note.state, state | (BCRI_NOTE_BYTES + 1));
    CHECK(!is_noted(one));
    bcri_store(&one->record->note.state, state | UINT32_MAX);
    CHECK(!is_noted(one));
    CHECK_INT(bcr_note(NULL, -1), 0);
    CHECK(!is_noted(one));
    end();
}

/* ---- read meanwhile ---- */

/* Notes that all bytes of which tell which one it is, of all lengths. */
static _Noreturn void set_for_ever(struct bcri_note_shm *note)
{
    for (unsigned turn = 0;; turn++) {
        const unsigned which = turn % 64;
        char text[BCRI_NOTE_BYTES];
        uint8_t cce[BCRI_IDENTITY_BYTES];
        memset(text, '0' + (int)which, sizeof text);
        memset(cce, (int)which, sizeof cce);
        bcri_note_set(note, text, BCRI_NOTE_BYTES - which, cce);
        if (turn % 5 == 0)
            bcri_note_clear(note);
    }
}

/* Whether one was read; it is whole. */
static bool reads_a_whole_one(const struct bcri_note_shm *note)
{
    if (!bcri_note_read(note, &got))
        return false;
    const unsigned which = got.cce[0];
    CHECK(which < 64);
    CHECK_UINT(strlen(got.text), BCRI_NOTE_BYTES - which);
    for (size_t i = 0; i < BCRI_NOTE_BYTES - which; i++)
        CHECK_INT(got.text[i], (char)('0' + which));
    for (size_t i = 0; i < sizeof got.cce; i++)
        CHECK_UINT(got.cce[i], which);
    return true;
}

/* A process sets notes without end, and is killed wherever it is; the next one goes on with what it has left. */
TEST_TIMEOUT(a_note_that_another_process_sets_is_read_whole_or_not_at_all_also_after_its_death, 300)
{
    enum { DEATHS = 300, READ = 200 };
    struct bcri_note_shm *note =
        mmap(NULL, sizeof *note, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(note != MAP_FAILED);
    unsigned midst = 0;
    for (unsigned death = 0; death < DEATHS || midst == 0; death++) { /* some are killed while they set one */
        const uint64_t before = bcri_load(&note->state);
        const pid_t writer = fork();
        CHECK(writer >= 0);
        if (writer == 0)
            set_for_ever(note);
        while (bcri_load(&note->state) == before)
            continue;
        for (unsigned read = 0; read < READ;)
            read += reads_a_whole_one(note);
        kill(writer, SIGKILL);
        CHECK_INT(waitpid(writer, NULL, 0), writer);
        const bool is_whole = reads_a_whole_one(note);
        CHECK_INT(is_whole, (uint32_t)bcri_load(&note->state) != 0);
        midst += (unsigned)(bcri_load(&note->state) >> 32) % 2;
    }
    munmap(note, sizeof *note);
}
