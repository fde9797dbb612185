/* SPDX-License-Identifier: MIT */
/* A program in C that loads a library in C++ when it is a CCE already, for itself alone: nothing of C++ was there before. */
#include <bcr.h>
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argc;
    if (bcr_init(bcr_user_ca, argv[0]) != 0)
        return 1;
    void *library = dlopen(EXCEPTIONS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    int (*scene)(void) = NULL;
    if (library != NULL)
        *(void **)(void *)&scene = dlsym(library, "scene");
    if (scene == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    return scene();
}
