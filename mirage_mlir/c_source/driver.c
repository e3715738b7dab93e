/* The CUDA driver, found when it is first needed: this file is compiled and linked without it. */

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of cuda.h, under names of our own: a program that includes cuda.h may include this, too. */
enum {
  MIRAGE_CAPABILITY_MAJOR = 75,       /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR */
  MIRAGE_CAPABILITY_MINOR = 76,       /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR */
  MIRAGE_SHARED_LIMIT = 97,           /* ..._MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
  MIRAGE_DYNAMIC_SHARED_BYTES = 8,    /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
  MIRAGE_PROGRAMMATIC_START = 6,      /* ..._PROGRAMMATIC_STREAM_SERIALIZATION */
  MIRAGE_CAPTURE_ACTIVE = 1,          /* CU_STREAM_CAPTURE_STATUS_ACTIVE */
  MIRAGE_CAPTURE_RELAXED = 2,         /* CU_STREAM_CAPTURE_MODE_RELAXED */
  MIRAGE_STREAM_NON_BLOCKING = 1,     /* CU_STREAM_NON_BLOCKING */
  MIRAGE_STREAM_PER_THREAD = 2,       /* CU_STREAM_PER_THREAD */
  MIRAGE_INVALID_CONTEXT = 201        /* CUDA_ERROR_INVALID_CONTEXT */
};

typedef struct CUstream_st *mirage_stream;

typedef struct { /* CUlaunchAttribute */
  int id;
  char padding[8 - sizeof(int)];
  union {
    char bytes[64];
    int allowed;
  } value;
} mirage_attribute;

typedef struct { /* CUlaunchConfig */
  unsigned int grid[3], block[3], shared_bytes;
  mirage_stream stream;
  mirage_attribute *attributes;
  unsigned int attribute_count;
} mirage_configuration;

static struct {
  int (*init)(unsigned int);
  int (*error_string)(int, const char **);
  int (*context_device)(int *);
  int (*context_current)(void **);
  int (*context_id)(void *, unsigned long long *);
  int (*context_wait)(void);
  int (*device_attribute)(int *, int, int);
  int (*exchange_capture_mode)(int *);
  int (*module_load)(void **, const void *);
  int (*module_unload)(void *);
  int (*module_function)(void **, void *, const char *);
  int (*function_set)(void *, int, int);
  int (*function_load)(void *);
  int (*allocate)(uint64_t *, size_t);
  int (*release)(uint64_t);
  int (*upload)(uint64_t, const void *, size_t);
  int (*download)(void *, uint64_t, size_t);
  int (*fill)(uint64_t, unsigned char, size_t, mirage_stream);
  int (*stream_create)(mirage_stream *, unsigned int);
  int (*stream_wait)(mirage_stream);
  int (*stream_destroy)(mirage_stream);
  int (*stream_capture)(mirage_stream, int *, uint64_t *, void *, void *, void *, size_t *);
  int (*encode)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                const uint32_t *, int, int, int, int);
  int (*launch)(const mirage_configuration *, void *, void **, void **);
} mirage_cuda;

/* In the order of the members above. */
static const char *const mirage_cuda_names[] = {
    "cuInit",
    "cuGetErrorString",
    "cuCtxGetDevice",
    "cuCtxGetCurrent",
    "cuCtxGetId",
    "cuCtxSynchronize",
    "cuDeviceGetAttribute",
    "cuThreadExchangeStreamCaptureMode",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuModuleGetFunction",
    "cuFuncSetAttribute",
    "cuFuncLoad",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemcpyHtoD_v2",
    "cuMemcpyDtoH_v2",
    "cuMemsetD8Async",
    "cuStreamCreate",
    "cuStreamSynchronize",
    "cuStreamDestroy_v2",
    "cuStreamGetCaptureInfo_v3",
    "cuTensorMapEncodeTiled",
    "cuLaunchKernelEx",
};

static pthread_mutex_t mirage_lock = PTHREAD_MUTEX_INITIALIZER;
static int mirage_driver_found;

/* Find the driver; the caller holds the lock. A failure is tried again in the next call. */
static int mirage_find_driver(void) {
  const size_t count = sizeof mirage_cuda_names / sizeof *mirage_cuda_names;
  void *library, *symbol;
  size_t i;
  int status;
  if (mirage_driver_found) return MIRAGE_OK;
  library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) library = dlopen("libcuda.so", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return MIRAGE_NO_DRIVER;
  for (i = 0; i < count; ++i) {
    symbol = dlsym(library, mirage_cuda_names[i]);
    if (symbol == NULL) {
      dlclose(library);
      return MIRAGE_OLD_DRIVER;
    }
    /* ISO C has no cast from an object to a function; POSIX says that this works. */
    memcpy((char *)&mirage_cuda + i * sizeof symbol, &symbol, sizeof symbol);
  }
  status = mirage_cuda.init(0);
  if (status != MIRAGE_OK) return status;
  mirage_driver_found = 1;
  return MIRAGE_OK;
}

/* The text for a status of this file, or of the driver. */
static const char *mirage_error(int status) {
  const char *text = NULL;
  int found;
  switch (status) {
    case MIRAGE_OK: return "no error";
    case MIRAGE_NO_DRIVER: return "there is no CUDA driver: libcuda.so.1 cannot be loaded";
    case MIRAGE_OLD_DRIVER: return "the CUDA driver is older than 13.0";
    case MIRAGE_NO_CONTEXT: return "the calling thread has no current CUDA context";
    case MIRAGE_NO_CODE: return "there is no code for the compute capability of the current device";
    case MIRAGE_NO_SHARED_MEMORY:
      return "a kernel needs more shared memory than a block has on the current device";
    case MIRAGE_NULL_TENSOR: return "a tensor is a null pointer";
    case MIRAGE_NULL_SCRATCH: return "scratch memory is needed and is a null pointer";
    case MIRAGE_MISALIGNED: return "a tensor or the scratch memory does not start at a multiple of 16 bytes";
    case MIRAGE_OVERLAP: return "an output shares memory with an input, another output or the scratch memory";
    case MIRAGE_CAPTURED:
      return "constants are packed in the first call that has them, which cannot be captured into "
             "a CUDA graph: make one call before";
    case MIRAGE_NO_MEMORY: return "there is not enough host memory";
    default: break;
  }
  if (status < 0) return "unknown status";
  pthread_mutex_lock(&mirage_lock);
  found = mirage_driver_found;
  pthread_mutex_unlock(&mirage_lock);
  if (found && mirage_cuda.error_string(status, &text) == MIRAGE_OK && text != NULL) return text;
  return "the CUDA driver reports an error";
}
