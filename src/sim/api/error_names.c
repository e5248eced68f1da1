// The names of the runtime's error codes and a short description of each.
#include <stddef.h>

#include "api/call.h"
#include "sim/runtime_api.h"

typedef struct description {
    cudaError_t error;
    const char *name, *text;
} description;

#define ERROR(name, text)                                                                                              \
    {                                                                                                                  \
        name, #name, text                                                                                              \
    }

static const description descriptions[] = {
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInitializationError, "initialization error"),
    ERROR(cudaErrorCudartUnloading, "driver shutting down"),
    ERROR(cudaErrorProfilerDisabled, "profiler is disabled"),
    ERROR(cudaErrorProfilerNotInitialized, "profiler is not initialized"),
    ERROR(cudaErrorProfilerAlreadyStarted, "profiler is already started"),
    ERROR(cudaErrorProfilerAlreadyStopped, "profiler is already stopped"),
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    ERROR(cudaErrorInvalidHostPointer, "invalid host pointer"),
    ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    ERROR(cudaErrorInvalidTexture, "invalid texture"),
    ERROR(cudaErrorInvalidTextureBinding, "texture is not bound"),
    ERROR(cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction"),
    ERROR(cudaErrorAddressOfConstant, "address of a constant variable"),
    ERROR(cudaErrorTextureFetchFailed, "texture fetch failed"),
    ERROR(cudaErrorTextureNotBound, "texture not bound"),
    ERROR(cudaErrorSynchronizationError, "synchronization failed"),
    ERROR(cudaErrorInvalidFilterSetting, "invalid texture filter"),
    ERROR(cudaErrorInvalidNormSetting, "invalid normalized texture setting"),
    ERROR(cudaErrorMixedDeviceExecution, "device and emulation mixed"),
    ERROR(cudaErrorNotYetImplemented, "not yet implemented"),
    ERROR(cudaErrorMemoryValueTooLarge, "memory value too large"),
    ERROR(cudaErrorStubLibrary, "the driver library is a stub"),
    ERROR(cudaErrorInsufficientDriver, "driver is older than the runtime"),
    ERROR(cudaErrorCallRequiresNewerDriver, "call needs a newer driver"),
    ERROR(cudaErrorInvalidSurface, "invalid surface"),
    ERROR(cudaErrorDuplicateVariableName, "two device variables of one name"),
    ERROR(cudaErrorDuplicateTextureName, "two textures of one name"),
    ERROR(cudaErrorDuplicateSurfaceName, "two surfaces of one name"),
    ERROR(cudaErrorDevicesUnavailable, "all devices are busy or unavailable"),
    ERROR(cudaErrorIncompatibleDriverContext, "incompatible driver context"),
    ERROR(cudaErrorMissingConfiguration, "no launch configuration"),
    ERROR(cudaErrorPriorLaunchFailure, "an earlier launch failed"),
    ERROR(cudaErrorLaunchMaxDepthExceeded, "launches nested too deep"),
    ERROR(cudaErrorLaunchFileScopedTex, "child kernel uses a file-scope texture"),
    ERROR(cudaErrorLaunchFileScopedSurf, "child kernel uses a file-scope surface"),
    ERROR(cudaErrorSyncDepthExceeded, "synchronization nested too deep"),
    ERROR(cudaErrorLaunchPendingCountExceeded, "too many pending launches"),
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(cudaErrorNoDevice, "no CUDA-capable device"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorDeviceNotLicensed, "device is not licensed"),
    ERROR(cudaErrorSoftwareValidityNotEstablished, "software integrity check failed"),
    ERROR(cudaErrorStartupFailure, "startup failure in the runtime"),
    ERROR(cudaErrorInvalidKernelImage, "invalid kernel image"),
    ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    ERROR(cudaErrorMapBufferObjectFailed, "mapping a buffer object failed"),
    ERROR(cudaErrorUnmapBufferObjectFailed, "unmapping a buffer object failed"),
    ERROR(cudaErrorArrayIsMapped, "array is mapped"),
    ERROR(cudaErrorAlreadyMapped, "resource is already mapped"),
    ERROR(cudaErrorNoKernelImageForDevice, "no kernel image for this device"),
    ERROR(cudaErrorAlreadyAcquired, "resource is already acquired"),
    ERROR(cudaErrorNotMapped, "resource is not mapped"),
    ERROR(cudaErrorNotMappedAsArray, "resource is not mapped as an array"),
    ERROR(cudaErrorNotMappedAsPointer, "resource is not mapped as a pointer"),
    ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error"),
    ERROR(cudaErrorUnsupportedLimit, "limit is not supported here"),
    ERROR(cudaErrorDeviceAlreadyInUse, "device is in use by another thread"),
    ERROR(cudaErrorPeerAccessUnsupported, "peer access is not supported"),
    ERROR(cudaErrorInvalidPtx, "PTX compilation failed"),
    ERROR(cudaErrorInvalidGraphicsContext, "invalid graphics context"),
    ERROR(cudaErrorNvlinkUncorrectable, "uncorrectable NVLink error"),
    ERROR(cudaErrorJitCompilerNotFound, "PTX compiler not found"),
    ERROR(cudaErrorUnsupportedPtxVersion, "PTX is of an unsupported version"),
    ERROR(cudaErrorJitCompilationDisabled, "PTX compilation is disabled"),
    ERROR(cudaErrorUnsupportedExecAffinity, "execution affinity is not supported"),
    ERROR(cudaErrorUnsupportedDevSideSync, "cudaDeviceSynchronize in device code is not supported"),
    ERROR(cudaErrorContained, "a contained error was detected"),
    ERROR(cudaErrorInvalidSource, "invalid device kernel source"),
    ERROR(cudaErrorFileNotFound, "file not found"),
    ERROR(cudaErrorSharedObjectSymbolNotFound, "symbol not found in a shared object"),
    ERROR(cudaErrorSharedObjectInitFailed, "shared object initialization failed"),
    ERROR(cudaErrorOperatingSystem, "call to the operating system failed"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorIllegalState, "operation is not valid in this state"),
    ERROR(cudaErrorLossyQuery, "query would lose information"),
    ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    ERROR(cudaErrorNotReady, "device not ready"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    ERROR(cudaErrorLaunchIncompatibleTexturing, "launch uses an incompatible texturing mode"),
    ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    ERROR(cudaErrorSetOnActiveProcess, "cannot be set while the process is active"),
    ERROR(cudaErrorContextIsDestroyed, "context is destroyed"),
    ERROR(cudaErrorAssert, "device-side assert triggered"),
    ERROR(cudaErrorTooManyPeers, "peer mapping resources exhausted"),
    ERROR(cudaErrorHostMemoryAlreadyRegistered, "part or all of the memory is already registered"),
    ERROR(cudaErrorHostMemoryNotRegistered, "pointer is not registered host memory"),
    ERROR(cudaErrorHardwareStackError, "hardware stack error"),
    ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    ERROR(cudaErrorInvalidAddressSpace, "operation not supported on this address space"),
    ERROR(cudaErrorInvalidPc, "invalid program counter"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    ERROR(cudaErrorTensorMemoryLeak, "tensor memory was not freed"),
    ERROR(cudaErrorNotPermitted, "operation not permitted"),
    ERROR(cudaErrorNotSupported, "operation not supported"),
    ERROR(cudaErrorSystemNotReady, "system not yet initialized"),
    ERROR(cudaErrorSystemDriverMismatch, "system has an unsupported mix of drivers"),
    ERROR(cudaErrorCompatNotSupportedOnDevice, "compatibility mode is not supported on this device"),
    ERROR(cudaErrorMpsConnectionFailed, "connection to the MPS server failed"),
    ERROR(cudaErrorMpsRpcFailure, "call to the MPS server failed"),
    ERROR(cudaErrorMpsServerNotReady, "MPS server is not ready"),
    ERROR(cudaErrorMpsMaxClientsReached, "MPS server has no room for clients"),
    ERROR(cudaErrorMpsMaxConnectionsReached, "MPS server has no room for connections"),
    ERROR(cudaErrorMpsClientTerminated, "MPS client was terminated"),
    ERROR(cudaErrorCdpNotSupported, "dynamic parallelism is not supported"),
    ERROR(cudaErrorCdpVersionMismatch, "two versions of dynamic parallelism"),
    ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ERROR(cudaErrorStreamCaptureInvalidated, "capture failed because of an earlier error"),
    ERROR(cudaErrorStreamCaptureMerge, "operation would merge two captures"),
    ERROR(cudaErrorStreamCaptureUnmatched, "capture was not begun in this stream"),
    ERROR(cudaErrorStreamCaptureUnjoined, "capture has work that was not joined to its first stream"),
    ERROR(cudaErrorStreamCaptureIsolation, "dependency would cross the edge of the capture"),
    ERROR(cudaErrorStreamCaptureImplicit, "operation would make a capturing stream depend on uncaptured work"),
    ERROR(cudaErrorCapturedEvent, "operation not permitted on an event of a capture"),
    ERROR(cudaErrorStreamCaptureWrongThread, "capture was begun by another thread"),
    ERROR(cudaErrorTimeout, "wait operation timed out"),
    ERROR(cudaErrorGraphExecUpdateFailure, "graph update was refused"),
    ERROR(cudaErrorExternalDevice, "error on another device"),
    ERROR(cudaErrorInvalidClusterSize, "invalid cluster size"),
    ERROR(cudaErrorFunctionNotLoaded, "function is not loaded"),
    ERROR(cudaErrorInvalidResourceType, "invalid resource type"),
    ERROR(cudaErrorInvalidResourceConfiguration, "invalid resource configuration"),
    ERROR(cudaErrorUnknown, "unknown error"),
    ERROR(cudaErrorApiFailureBase, "failure of the interface below"),
};

static const description *find(cudaError_t error)
{
    for (size_t i = 0; i < sizeof descriptions / sizeof descriptions[0]; i++) {
        if (descriptions[i].error == error)
            return &descriptions[i];
    }
    return NULL;
}

const char *sim_error_name(cudaError_t error)
{
    const description *found = find(error);
    return found != NULL ? found->name : "unrecognized error code";
}

const char *sim_error_text(cudaError_t error)
{
    const description *found = find(error);
    return found != NULL ? found->text : "unrecognized error code";
}
