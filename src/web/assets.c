// The table of assets, which cmake/HeddleAssets.cmake makes.

#include "web/assets.h"

#include <string.h>

extern const heddle_web_asset heddle_web_assets[]; // the last has no name

const heddle_web_asset *heddle_web_asset_find(const char *name)
{
    for (const heddle_web_asset *asset = heddle_web_assets; asset->name; asset++)
        if (strcmp(asset->name, name) == 0)
            return asset;
    return NULL;
}
