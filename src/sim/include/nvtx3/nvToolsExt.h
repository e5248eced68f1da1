// NVTX on the simulated GPU: markers and ranges are accepted and mean nothing, as without a profiler. Plain C as well.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NVTX_VERSION              3
#define NVTX_SUCCESS              0
#define NVTX_NO_PUSH_POP_TRACKING (-2)

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;

typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef union nvtxEventAttributes_payload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
} nvtxEventAttributes_payload_t;
typedef struct nvtxEventAttributes_v2 {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    nvtxEventAttributes_payload_t payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_v2;
typedef nvtxEventAttributes_v2 nvtxEventAttributes_t;

#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

#ifdef __cplusplus
#define SIM_NVTX inline
#else
#define SIM_NVTX static inline
#endif

SIM_NVTX void nvtxInitialize(const void *reserved)
{
    (void)reserved;
}
SIM_NVTX void nvtxMarkEx(const nvtxEventAttributes_t *attributes)
{
    (void)attributes;
}
SIM_NVTX void nvtxMarkA(const char *message)
{
    (void)message;
}
SIM_NVTX nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *attributes)
{
    (void)attributes;
    return 0;
}
SIM_NVTX nvtxRangeId_t nvtxRangeStartA(const char *message)
{
    (void)message;
    return 0;
}
SIM_NVTX void nvtxRangeEnd(nvtxRangeId_t range)
{
    (void)range;
}
SIM_NVTX int nvtxRangePushEx(const nvtxEventAttributes_t *attributes)
{
    (void)attributes;
    return NVTX_NO_PUSH_POP_TRACKING;
}
SIM_NVTX int nvtxRangePushA(const char *message)
{
    (void)message;
    return NVTX_NO_PUSH_POP_TRACKING;
}
SIM_NVTX int nvtxRangePop(void)
{
    return NVTX_NO_PUSH_POP_TRACKING;
}
SIM_NVTX void nvtxNameCategoryA(uint32_t category, const char *name)
{
    (void)category;
    (void)name;
}
SIM_NVTX void nvtxNameOsThreadA(uint32_t thread, const char *name)
{
    (void)thread;
    (void)name;
}
SIM_NVTX nvtxDomainHandle_t nvtxDomainCreateA(const char *name)
{
    (void)name;
    return 0;
}
SIM_NVTX void nvtxDomainDestroy(nvtxDomainHandle_t domain)
{
    (void)domain;
}
SIM_NVTX nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char *string)
{
    (void)domain;
    (void)string;
    return 0;
}
SIM_NVTX int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    (void)domain;
    (void)attributes;
    return NVTX_NO_PUSH_POP_TRACKING;
}
SIM_NVTX int nvtxDomainRangePop(nvtxDomainHandle_t domain)
{
    (void)domain;
    return NVTX_NO_PUSH_POP_TRACKING;
}

#define nvtxMark                 nvtxMarkA
#define nvtxRangeStart           nvtxRangeStartA
#define nvtxRangePush            nvtxRangePushA
#define nvtxNameCategory         nvtxNameCategoryA
#define nvtxNameOsThread         nvtxNameOsThreadA
#define nvtxDomainCreate         nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
