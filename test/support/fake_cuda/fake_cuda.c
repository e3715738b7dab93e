/*
 * A libcuda.so.1 in host memory, which writes down what it is asked for. It is compiled with CUDA's
 * own cuda.h, so that a caller whose declarations differ from these is noticed.
 */

#define _GNU_SOURCE
#include <cuda.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES = 1 << 20, FUNCTIONS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char log_text[LOG_BYTES];
static size_t log_length;
static char failing[64];
static int failure, failing_after;
static uintptr_t current = 1;
static int major_version = 9, minor_version, shared_limit = 227 * 1024, uninitialised = 1;
static cuuint64_t captured;
static char names[FUNCTIONS][256];
static int counts[FUNCTIONS], known;
static void (*on_launch)(const char *, int, const unsigned long long *);
static __thread CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

static void note(const char *format, ...) {
  va_list arguments;
  int written;
  va_start(arguments, format);
  written = vsnprintf(log_text + log_length, LOG_BYTES - log_length, format, arguments);
  va_end(arguments);
  if (written > 0 && log_length + (size_t)written < LOG_BYTES) log_length += (size_t)written;
}

/* Whether a call is to fail; all but the first are refused before cuInit. */
static CUresult entered(const char *name) {
  CUresult result = CUDA_SUCCESS;
  pthread_mutex_lock(&lock);
  if (strcmp(name, "cuInit") != 0 && uninitialised) result = CUDA_ERROR_NOT_INITIALIZED;
  if (strcmp(name, failing) == 0 && failing_after-- == 0) result = (CUresult)failure;
  pthread_mutex_unlock(&lock);
  return result;
}
#define ENTER()                               \
  do {                                        \
    CUresult entry = entered(__func__);       \
    if (entry != CUDA_SUCCESS) return entry;  \
  } while (0)

/* What tests ask. */

const char *fake_log(void) { return log_text; }

void fake_reset(int major, int minor, int limit) {
  major_version = major, minor_version = minor, shared_limit = limit;
  log_length = 0, log_text[0] = 0, failing[0] = 0, captured = 0, current = 1, known = 0, on_launch = NULL;
}

void fake_signature(const char *kernel, int arguments) {
  snprintf(names[known], sizeof names[known], "%s", kernel);
  counts[known++] = arguments;
}

void fake_fail(const char *name, int with, int after) {
  char full[64];
  snprintf(full, sizeof full, "%s", name);
  memcpy(failing, full, sizeof failing);
  failure = with, failing_after = after;
}

/* What a launch does: with the kernel's name and arguments, of a tensor map the address. */
void fake_on_launch(void (*call)(const char *, int, const unsigned long long *)) { on_launch = call; }

void fake_context(unsigned long number) { current = number; }

void fake_capture(unsigned long number) { captured = number; }

/* For a process of its own: FAKE_CUDA_KERNELS=NAME:ARGUMENTS,... and of FAKE_CUDA_RESULT=NUMBER:FILE
 * each launch that has so many arguments writes the file to what its last argument points to. */

__attribute__((constructor)) static void read_environment(void) {
  char text[1024];
  char *word;
  snprintf(text, sizeof text, "%s", getenv("FAKE_CUDA_KERNELS") ? getenv("FAKE_CUDA_KERNELS") : "");
  for (word = strtok(text, ","); word != NULL; word = strtok(NULL, ",")) {
    char *colon = strchr(word, ':');
    *colon = 0;
    fake_signature(word, atoi(colon + 1));
  }
}

static void write_result(int arguments, unsigned long long to) {
  const char *result = getenv("FAKE_CUDA_RESULT");
  FILE *file = result && atoi(result) == arguments ? fopen(strchr(result, ':') + 1, "rb") : NULL;
  if (file == NULL) return;
  while (fread((void *)(uintptr_t)to, 1, 1, file) == 1) ++to;
  fclose(file);
}

/* The driver. */

CUresult CUDAAPI cuInit(unsigned int flags) {
  ENTER();
  (void)flags;
  uninitialised = 0;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetErrorString(CUresult error, const char **text) {
  *text = error == CUDA_ERROR_LAUNCH_FAILED ? "unspecified launch failure" : NULL;
  return *text == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice *device) {
  ENTER();
  *device = 0;
  return current ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext *context) {
  ENTER();
  *context = (CUcontext)current;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetId(CUcontext context, unsigned long long *number) {
  ENTER();
  *number = (uintptr_t)context;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  ENTER();
  *context = (CUcontext)(uintptr_t)(device + 1);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext context) {
  ENTER();
  current = (uintptr_t)context;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSynchronize(void) {
  ENTER();
  if (captured) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  note("synchronize\n");
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  ENTER();
  (void)device;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = major_version; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = minor_version; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = shared_limit; break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *wanted) {
  CUstreamCaptureMode before = mode;
  ENTER();
  mode = *wanted;
  *wanted = before;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image) {
  ENTER();
  if (captured && mode != CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  *module = (CUmodule)image;
  note("load %016llx in %lu\n", *(const unsigned long long *)image, (unsigned long)current);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleUnload(CUmodule module) {
  ENTER();
  note("unload %016llx\n", *(const unsigned long long *)module);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  int i;
  ENTER();
  (void)module;
  for (i = 0; i < known; ++i)
    if (strcmp(names[i], name) == 0) {
      *function = (CUfunction)(uintptr_t)(i + 1);
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  ENTER();
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_ERROR_INVALID_VALUE;
  note("allow %s %d\n", names[(uintptr_t)function - 1], value);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuFuncLoad(CUfunction function) {
  ENTER();
  return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr *address, size_t size) {
  void *memory;
  ENTER();
  if (captured && mode != CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (size == 0 || posix_memalign(&memory, 256, size) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  memset(memory, 0xee, size);
  *address = (CUdeviceptr)(uintptr_t)memory;
  note("allocate %zu at %llu\n", size, *address);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr *address, size_t size, unsigned int flags) {
  ENTER();
  return flags == CU_MEM_ATTACH_GLOBAL ? cuMemAlloc(address, size) : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
  ENTER();
  note("free %llu\n", address);
  free((void *)(uintptr_t)address);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size) {
  ENTER();
  memcpy((void *)(uintptr_t)to, from, size);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size) {
  ENTER();
  memcpy(to, (const void *)(uintptr_t)from, size);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  ENTER();
  (void)stream;
  memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  unsigned int *place = (unsigned int *)(uintptr_t)to;
  ENTER();
  note("fill %zu words with %u on %llu\n", count, value, (unsigned long long)(uintptr_t)stream);
  while (count-- > 0) *place++ = value;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  unsigned short *place = (unsigned short *)(uintptr_t)to;
  ENTER();
  (void)stream;
  while (count-- > 0) *place++ = value;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t size, CUstream stream) {
  ENTER();
  if (stream == NULL) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  memset((void *)(uintptr_t)to, value, size);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuStreamCreate(CUstream *stream, unsigned int flags) {
  ENTER();
  if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  *stream = (CUstream)(uintptr_t)0x5000;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuStreamSynchronize(CUstream stream) {
  ENTER();
  return stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult CUDAAPI cuStreamDestroy(CUstream stream) {
  ENTER();
  return stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult CUDAAPI cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  ENTER();
  return stream && event && flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult CUDAAPI cuEventCreate(CUevent *event, unsigned int flags) {
  ENTER();
  if (flags != CU_EVENT_DISABLE_TIMING) return CUDA_ERROR_INVALID_VALUE;
  *event = (CUevent)(uintptr_t)0x6000;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuEventRecord(CUevent event, CUstream stream) {
  ENTER();
  return stream && event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult CUDAAPI cuEventSynchronize(CUevent event) {
  ENTER();
  return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult CUDAAPI cuEventDestroy(CUevent event) {
  ENTER();
  return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *number,
                                        CUgraph *graph, const CUgraphNode **nodes,
                                        const CUgraphEdgeData **edges, size_t *count) {
  ENTER();
  (void)stream;
  if (graph || nodes || edges || count) return CUDA_ERROR_INVALID_VALUE;
  *status = captured ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  if (captured) *number = captured;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                        void *address, const cuuint64_t *dims,
                                        const cuuint64_t *strides, const cuuint32_t *box,
                                        const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                        CUtensorMapFloatOOBfill fill) {
  cuuint32_t i;
  ENTER();
  if ((uintptr_t)map % 64 || (uintptr_t)address % 16 || rank < 1 || rank > 5) return CUDA_ERROR_INVALID_VALUE;
  memset(map, 'm', sizeof *map);
  memcpy(map, &address, sizeof address);
  pthread_mutex_lock(&lock);
  note("encode %d %llu", (int)type, (unsigned long long)(uintptr_t)address);
  for (i = 0; i < rank; ++i) note(" %llu", (unsigned long long)dims[i]);
  note(" |");
  for (i = 0; i + 1 < rank; ++i) note(" %llu", (unsigned long long)strides[i]);
  note(" |");
  for (i = 0; i < rank; ++i) note(" %u/%u", box[i], steps[i]);
  note(" | %d %d %d %d\n", (int)interleave, (int)swizzle, (int)promotion, (int)fill);
  pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                                  void **extra) {
  const size_t number = (uintptr_t)function - 1;
  unsigned long long given[64];
  unsigned int cluster[3] = {0, 0, 0};
  int i, early = 0;
  ENTER();
  if (extra != NULL || config->blockDimY != 1 || config->blockDimZ != 1) return CUDA_ERROR_INVALID_VALUE;
  for (i = 0; i < (int)config->numAttrs; ++i) {
    const CUlaunchAttribute *attribute = &config->attrs[i];
    switch (attribute->id) {
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        early = attribute->value.programmaticStreamSerializationAllowed;
        break;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        memcpy(cluster, &attribute->value.clusterDim, sizeof cluster);
        break;
      default: return CUDA_ERROR_INVALID_VALUE;
    }
  }
  pthread_mutex_lock(&lock);
  note("launch %s %u %u %u %u %u %llu %d :", names[number], config->gridDimX, config->gridDimY,
       config->gridDimZ, config->blockDimX, config->sharedMemBytes,
       (unsigned long long)(uintptr_t)config->hStream, early);
  for (i = 0; i < counts[number]; ++i) {
    unsigned long long value;
    memcpy(&value, parameters[i], sizeof value);
    given[i] = value;
    note(" %llu", value);
    if (i + 1 == counts[number]) write_result(counts[number], value);
  }
  note("\n");
  if (cluster[0] > 0) note("cluster %u %u %u\n", cluster[0], cluster[1], cluster[2]);
  pthread_mutex_unlock(&lock);
  if (on_launch != NULL) on_launch(names[number], counts[number], given);
  return CUDA_SUCCESS;
}
