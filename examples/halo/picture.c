/* SPDX-License-Identifier: MIT */
/*
 * picture.c -- see picture.h.
 */
#include "picture.h"
#include <errno.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

static png_byte part(double heat, double from)
{
    const double value = (heat - from) * 3;
    return (png_byte)(value <= 0 ? 0 : value >= 1 ? 255 : value * 255);
}

const char *picture_write(const char *path, const struct plate *plate)
{
    const size_t width = (size_t)plate->width, height = (size_t)plate->height;
    png_byte *pixels = malloc(3 * width * height);
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB};
    static char why[sizeof image.message];
    if (pixels == NULL)
        return strerror(ENOMEM);
    for (size_t i = 0; i < width * height; i++) {
        const double heat = plate_at(plate, (int)(i % width), (int)(i / width));
        pixels[3 * i] = part(heat, 0);
        pixels[3 * i + 1] = part(heat, 1.0 / 3);
        pixels[3 * i + 2] = part(heat, 2.0 / 3);
    }
    const int done = png_image_write_to_file(&image, path, 0, pixels, 0, NULL);
    free(pixels);
    strcpy(why, image.message);
    return done ? NULL : why;
}
