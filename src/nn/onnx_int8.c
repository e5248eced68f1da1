// The int8 network as an ONNX file.

#include "nn/onnx.h"

heddle_status heddle_onnx_export_int8(heddle_network *network, const char *path)
{
    (void)network, (void)path;
    return heddle_fail(HEDDLE_UNSUPPORTED, "no int8 yet");
}
