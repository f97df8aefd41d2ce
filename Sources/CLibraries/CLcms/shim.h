// Little CMS: colours of any profile to those of sRGB.
#pragma once

#include <lcms2.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// What a pixel of four bytes holds.
enum shim_pixels { shim_pixels_rgba = 0, shim_pixels_cmyk = 1, shim_pixels_inverted_cmyk = 2 };

// Whether a profile makes no difference that anyone sees.
static inline int shim_changes_nothing(cmsHTRANSFORM transform) {
    uint8_t given[64 * 4], made[64 * 4];
    for (int index = 0; index < 64; index++) {
        for (int channel = 0; channel < 3; channel++)
            given[index * 4 + channel] = made[index * 4 + channel] = (uint8_t) ((index >> (2 * channel) & 3) * 85);
        given[index * 4 + 3] = made[index * 4 + 3] = 255;
    }
    cmsDoTransform(transform, made, made, 64);
    for (int place = 0; place < 64 * 4; place++)
        if (abs(given[place] - made[place]) > 2) return 0;
    return 1;
}

// Converts pixels in their place to red, green, blue and alpha of sRGB; alpha is left as it is, and to be set for inks.
// Returns 0, or -1 if the profile is none of this kind of pixels.
static inline int shim_to_srgb(
    const void *bytes, uint32_t count, enum shim_pixels kind, uint8_t *pixels, size_t pixel_count
) {
    cmsHPROFILE profile = cmsOpenProfileFromMem(bytes, count), standard = cmsCreate_sRGBProfile();
    cmsHTRANSFORM transform = NULL;
    int result = -1;
    if (!profile || !standard) goto done;
    cmsColorSpaceSignature space = cmsGetColorSpace(profile);
    // What is looked up fast takes longer to prepare than few pixels take to convert.
    cmsUInt32Number flags = kind != shim_pixels_rgba && pixel_count < 500000 ? cmsFLAGS_NOOPTIMIZE : 0;
    if (kind != shim_pixels_rgba) {
        if (space != cmsSigCmykData) goto done;
        transform = cmsCreateTransform(
            profile, kind == shim_pixels_cmyk ? TYPE_CMYK_8 : TYPE_CMYK_8_REV, standard, TYPE_RGBA_8, INTENT_PERCEPTUAL,
            flags);
        if (transform) cmsDoTransform(transform, pixels, pixels, (cmsUInt32Number) pixel_count);
    } else if (space == cmsSigRgbData) {
        transform = cmsCreateTransform(profile, TYPE_RGBA_8, standard, TYPE_RGBA_8, INTENT_PERCEPTUAL, flags);
        if (transform && !shim_changes_nothing(transform))
            cmsDoTransform(transform, pixels, pixels, (cmsUInt32Number) pixel_count);
    } else if (space == cmsSigGrayData) {
        uint8_t given[256], made[256 * 4];
        for (int shade = 0; shade < 256; shade++) given[shade] = (uint8_t) shade;
        transform = cmsCreateTransform(profile, TYPE_GRAY_8, standard, TYPE_RGBA_8, INTENT_PERCEPTUAL, 0);
        if (!transform) goto done;
        cmsDoTransform(transform, given, made, 256);
        for (size_t place = 0; place < pixel_count * 4; place++)
            if (place % 4 != 3) pixels[place] = made[pixels[place] * 4];
    }
    if (transform) result = 0;
done:
    if (transform) cmsDeleteTransform(transform);
    if (profile) cmsCloseProfile(profile);
    if (standard) cmsCloseProfile(standard);
    return result;
}

// A profile of the primaries that a video's number names (ITU-T H.273) and sRGB's curve, as bytes to be freed; NULL for
// those that are sRGB's, or not known here.
static inline uint8_t *shim_profile_of_primaries(int number, uint32_t *count) {
    cmsCIExyY white = {0.3127, 0.3290, 1};
    cmsCIExyYTRIPLE primaries;
    switch (number) {
    case 9: primaries = (cmsCIExyYTRIPLE) {{0.708, 0.292, 1}, {0.170, 0.797, 1}, {0.131, 0.046, 1}}; break;
    case 12: primaries = (cmsCIExyYTRIPLE) {{0.680, 0.320, 1}, {0.265, 0.690, 1}, {0.150, 0.060, 1}}; break;
    default: return NULL;
    }
    cmsFloat64Number parameters[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    cmsToneCurve *curve = cmsBuildParametricToneCurve(NULL, 4, parameters);
    cmsToneCurve *curves[] = {curve, curve, curve};
    cmsHPROFILE profile = curve ? cmsCreateRGBProfile(&white, &primaries, curves) : NULL;
    uint8_t *bytes = NULL;
    if (profile && cmsSaveProfileToMem(profile, NULL, count)) {
        bytes = (uint8_t *) malloc(*count);
        if (bytes && !cmsSaveProfileToMem(profile, bytes, count)) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (profile) cmsCloseProfile(profile);
    if (curve) cmsFreeToneCurve(curve);
    return bytes;
}
