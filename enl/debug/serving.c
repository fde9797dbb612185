/* SPDX-License-Identifier: MIT */
/* serving.c -- see debug_private.h. The command file is named after the program and lies beside its log; it goes at the end.
 * launch.json names no program, so it serves each one that is started in that directory. */
#include "debug/debug_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/self.h"
#include "bcri/refuse.h"
#include "debug/debug.h"

#define VSCODE_FILE ".vscode/launch.json"

/* Whether a shell that is told enl finds this one. */
static bool is_on_path(void)
{
    struct stat own, found;
    char file[PATH_MAX];
    const char *at = getenv("PATH");
    if (at == NULL || stat("/proc/self/exe", &own) != 0)
        return false;
    for (;; at++) {
        const size_t length = strcspn(at, ":");
        snprintf(file, sizeof file, "%.*s/enl", (int)length, at);
        if (*at == '/' && access(file, X_OK) == 0)
            return stat(file, &found) == 0 && found.st_dev == own.st_dev && found.st_ino == own.st_ino;
        at += length;
        if (*at == '\0')
            return false;
    }
}

static void put_before_each(char *out, size_t size, const char *text, const char *special, const char *before)
{
    size_t used = 0;
    for (; *text != '\0' && used + 5 <= size; text++)
        used += (size_t)snprintf(out + used, size - used, "%s%c",
                                 strchr(special, *text) != NULL ? before : "", *text);
    out[used] = '\0';
}

void enl_own_word(char *out, size_t size, bool bare, const char *special, const char *before)
{
    char path[PATH_MAX], word[2 * PATH_MAX + 3] = "enl";
    const bool found = bare && is_on_path();
    const ssize_t length = found ? 0 : readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    if (!found && strpbrk(path, " \t\n'\"\\$`&|;<>()*?[]#~!{}") == NULL) {
        strcpy(word, path);
    } else if (!found) {
        word[0] = '"';
        put_before_each(word + 1, sizeof word - 2, path, "\"\\$`", "\\");
        strcat(word, "\"");
    }
    put_before_each(out, size, word, special, before);
}

static void command_file(const struct enl_self *self, char *path, size_t size)
{
    snprintf(path, size, "%s/bcr.%s.gdb", self->config.tempdir, self->name);
}

/* A new file that only its user may read. Returns NULL with errno. */
static FILE *new_file(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd >= 0 ? fdopen(fd, "w") : NULL;
}

int enl_serving_vscode(struct enl_self *self, const char *root_path, char *error, size_t error_size)
{
    char in_gdb[ENL_OWN_MAX], command[ENL_OWN_MAX + 128];
    enl_own_word(in_gdb, sizeof in_gdb, false, "\"\\", "\\");
    snprintf(command, sizeof command,
             "-interpreter-exec console \"target remote | %s gdb-pipe - ${input:cce}\"", in_gdb);
    if (mkdir(".vscode", 0777) != 0 && errno != EEXIST)
        return bcri_refuse(error, error_size, -1, "--vscode: the directory .vscode cannot be made: %s",
                           strerror(errno));
    FILE *file = new_file(VSCODE_FILE);
    if (file == NULL && errno == EEXIST) {
        enl_report(self, BCRI_LOG_WARN,
                   "--vscode: " VSCODE_FILE
                   " is there already and stays as it is; move it away for a new one");
        return 0;
    }
    if (file == NULL)
        return bcri_refuse(error, error_size, -1, "--vscode: " VSCODE_FILE ": %s", strerror(errno));
    fprintf(file, "{\n"
                  "    \"version\": \"0.2.0\",\n"
                  "    \"inputs\": [{\n"
                  "        \"id\": \"cce\", \"type\": \"promptString\", \"description\": \"Which CCE?\", "
                  "\"default\": \"0\"\n"
                  "    }],\n"
                  "    \"configurations\": [{\n"
                  "        \"name\": \"BCR: a CCE of enl -D server\",\n"
                  "        \"type\": \"cppdbg\", \"request\": \"launch\", \"MIMode\": \"gdb\",\n"
                  "        \"program\": ");
    enl_json_text(file, root_path);
    fprintf(file, ", \"cwd\": \"${workspaceFolder}\",\n"
                  "        \"customLaunchSetupCommands\": [\n"
                  "            {\"text\": ");
    enl_json_text(file, command);
    fprintf(file, "}\n"
                  "        ],\n"
                  "        \"launchCompleteCommand\": \"None\"\n"
                  "    }]\n"
                  "}\n");
    fclose(file);
    enl_report(self, BCRI_LOG_INFO, "--vscode: wrote " VSCODE_FILE);
    return 0;
}

int enl_serving_start(struct enl_self *self, bool root, char *error, size_t error_size)
{
    char path[PATH_MAX + 256], in_python[ENL_OWN_MAX];
    enl_own_word(in_python, sizeof in_python, false, "\"\\", "\\");
    command_file(self, path, sizeof path);
    unlink(path); /* of a program of the same name, which ended before this one began */
    FILE *file = new_file(path);
    if (file == NULL)
        return bcri_refuse(error, error_size, -1, "-D server: the command file %s cannot be written: %s",
                           path, strerror(errno));
    fprintf(
        file,
        "# gdb -x this file: debugs CCE 0 of program %s, and by `cce N` CCE N as one more inferior.\n"
        "python\n"
        "class BcrCce(gdb.Command):\n"
        "    \"\"\"cce N: debug CCE N as one more inferior.\"\"\"\n"
        "    def __init__(self):\n"
        "        super().__init__(\"cce\", gdb.COMMAND_RUNNING)\n"
        "    def invoke(self, argument, from_tty):\n"
        "        if not argument.strip().isdigit():\n"
        "            raise gdb.GdbError(\"cce takes the ordinal of a CCE\")\n"
        "        if gdb.selected_inferior().pid != 0:\n"
        "            gdb.execute(\"add-inferior -no-connection\", to_string=True)\n"
        "            gdb.execute(\"inferior %%d\" %% max(i.num for i in gdb.inferiors()), to_string=True)\n"
        "        gdb.execute(\"target remote | %s gdb-pipe %s \" + argument.strip())\n"
        "BcrCce()\n"
        "end\n"
        "cce 0\n",
        self->name, in_python, self->name);
    fclose(file);
    if (root)
        enl_report(self, BCRI_LOG_INFO, "commands for a debugger: gdb -x %s", path);
    return 0;
}

void enl_serving_tell(struct enl_self *self, uint32_t ordinal, const char *object)
{
    char word[ENL_OWN_MAX];
    enl_own_word(word, sizeof word, true, "'", ENL_OWN_APOSTROPHE);
    enl_report(self, BCRI_LOG_INFO,
               "CCE %u (%s) waits for a debugger: gdb -ex 'target remote | %s gdb-pipe %s %u'", ordinal,
               object, word, self->name, ordinal);
}

void enl_serving_end(struct enl_self *self)
{
    char path[PATH_MAX + 256];
    command_file(self, path, sizeof path);
    unlink(path);
}
