/*
 * The run-time library that code behind MLIR's `gpu-to-llvm` calls, over the CUDA driver: the
 * functions of upstream's libmlir_cuda_runtime.so that `mirage-opt -t binary` needs, which no
 * package on an index has. The driver is found when it is first needed, so that a program is
 * compiled, linked and loaded without one.
 *
 * Upstream's functions have no status. Here a failure ends the process with its reason: what goes
 * on without a kernel computes something else.
 */

#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { /* of cuda.h */
  SHARED_LIMIT = 97,        /* CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
  DYNAMIC_SHARED_BYTES = 8, /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
  CLUSTER_DIMENSION = 4,    /* CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION */
  NON_BLOCKING = 1,         /* CU_STREAM_NON_BLOCKING */
  WITHOUT_TIMES = 2,        /* CU_EVENT_DISABLE_TIMING */
  ATTACHED_TO_ALL = 1       /* CU_MEM_ATTACH_GLOBAL */
};

typedef struct { /* CUlaunchAttribute */
  int id;
  char padding[8 - sizeof(int)];
  union {
    char bytes[64];
    unsigned int dims[3];
  } value;
} attribute;

typedef struct { /* CUlaunchConfig */
  unsigned int grid[3], block[3], shared_bytes;
  void *stream;
  attribute *attributes;
  unsigned int attribute_count;
} configuration;

typedef struct { /* what mgpuModuleLoad gives: code that is loaded when it is first launched */
  const void *image;
  void *module;
} code;

static struct {
  int (*init)(unsigned int);
  int (*error_string)(int, const char **);
  int (*current)(void **);
  int (*set_current)(void *);
  int (*retain)(void **, int);
  int (*context_device)(int *);
  int (*device_attribute)(int *, int, int);
  int (*module_load)(void **, const void *);
  int (*module_unload)(void *);
  int (*module_function)(void **, void *, const char *);
  int (*function_set)(void *, int, int);
  int (*launch)(const configuration *, void *, void **, void **);
  int (*stream_create)(void **, unsigned int);
  int (*stream_wait)(void *);
  int (*stream_destroy)(void *);
  int (*stream_wait_event)(void *, void *, unsigned int);
  int (*event_create)(void **, unsigned int);
  int (*event_record)(void *, void *);
  int (*event_wait)(void *);
  int (*event_destroy)(void *);
  int (*allocate)(uint64_t *, size_t);
  int (*allocate_shared)(uint64_t *, size_t, unsigned int);
  int (*release)(uint64_t);
  int (*copy)(uint64_t, uint64_t, size_t, void *);
  int (*fill_32)(uint64_t, unsigned int, size_t, void *);
  int (*fill_16)(uint64_t, unsigned short, size_t, void *);
  int (*encode)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                const uint32_t *, int, int, int, int);
} cuda;

static const char *const names[] = { /* in the order of the members above */
    "cuInit",
    "cuGetErrorString",
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuDevicePrimaryCtxRetain",
    "cuCtxGetDevice",
    "cuDeviceGetAttribute",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuModuleGetFunction",
    "cuFuncSetAttribute",
    "cuLaunchKernelEx",
    "cuStreamCreate",
    "cuStreamSynchronize",
    "cuStreamDestroy_v2",
    "cuStreamWaitEvent",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuEventDestroy_v2",
    "cuMemAlloc_v2",
    "cuMemAllocManaged",
    "cuMemFree_v2",
    "cuMemcpyAsync",
    "cuMemsetD32Async",
    "cuMemsetD16Async",
    "cuTensorMapEncodeTiled",
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  abort();
}

static void require(int status, const char *what) {
  const char *text = NULL;
  if (status == 0) return;
  if (cuda.error_string(status, &text) != 0 || text == NULL) text = "the CUDA driver reports an error";
  fail(what, text);
}

static void find_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW), *symbol;
  size_t i;
  if (library == NULL) fail("libcuda.so.1", "there is no CUDA driver");
  for (i = 0; i < sizeof names / sizeof *names; ++i) {
    symbol = dlsym(library, names[i]);
    if (symbol == NULL) fail(names[i], "the CUDA driver does not have it");
    memcpy((char *)&cuda + i * sizeof symbol, &symbol, sizeof symbol);
  }
  require(cuda.init(0), "cuInit");
}

/* The context of the calling thread; where it has none, the one that all share, of device 0. */
static void enter(void) {
  void *context = NULL;
  pthread_once(&once, find_driver);
  require(cuda.current(&context), "cuCtxGetCurrent");
  if (context != NULL) return;
  require(cuda.retain(&context, 0), "cuDevicePrimaryCtxRetain");
  require(cuda.set_current(context), "cuCtxSetCurrent");
}

/* Code. A program loads it before `main`, and gives it back behind it: there may be no driver. */

void *mgpuModuleLoad(const void *image, size_t size) {
  code *made = (code *)calloc(1, sizeof *made);
  (void)size;
  if (made == NULL) fail("mgpuModuleLoad", "there is not enough memory");
  made->image = image;
  return made;
}

void *mgpuModuleLoadJIT(const void *image, int level, size_t size) {
  (void)level;
  return mgpuModuleLoad(image, size);
}

/* The driver gives back what it loaded when the process ends, and may be gone by now. */
void mgpuModuleUnload(code *given) { free(given); }

void *mgpuModuleGetFunction(code *given, const char *name) {
  void *function = NULL;
  enter();
  pthread_mutex_lock(&lock);
  if (given->module == NULL) require(cuda.module_load(&given->module, given->image), "cuModuleLoadData");
  pthread_mutex_unlock(&lock);
  require(cuda.module_function(&function, given->module, name), name);
  return function;
}

static void launch(const configuration *given, void *function, void **parameters) {
  int device = 0, limit = 0;
  require(cuda.context_device(&device), "cuCtxGetDevice");
  require(cuda.device_attribute(&limit, SHARED_LIMIT, device), "cuDeviceGetAttribute");
  if (given->shared_bytes > (unsigned int)limit)
    fail("launch", "a kernel needs more shared memory than a block has on this device");
  if (given->shared_bytes > 0)
    require(cuda.function_set(function, DYNAMIC_SHARED_BYTES, (int)given->shared_bytes),
            "cuFuncSetAttribute");
  require(cuda.launch(given, function, parameters, NULL), "cuLaunchKernelEx");
}

void mgpuLaunchClusterKernel(void *function, intptr_t cluster_x, intptr_t cluster_y, intptr_t cluster_z,
                             intptr_t grid_x, intptr_t grid_y, intptr_t grid_z, intptr_t block_x,
                             intptr_t block_y, intptr_t block_z, int32_t shared_bytes, void *stream,
                             void **parameters, void **extra, size_t count) {
  configuration made;
  attribute cluster;
  (void)extra, (void)count;
  memset(&made, 0, sizeof made);
  made.grid[0] = (unsigned int)grid_x, made.grid[1] = (unsigned int)grid_y;
  made.grid[2] = (unsigned int)grid_z;
  made.block[0] = (unsigned int)block_x, made.block[1] = (unsigned int)block_y;
  made.block[2] = (unsigned int)block_z;
  made.shared_bytes = (unsigned int)shared_bytes;
  made.stream = stream;
  memset(&cluster, 0, sizeof cluster);
  cluster.id = CLUSTER_DIMENSION;
  cluster.value.dims[0] = (unsigned int)cluster_x, cluster.value.dims[1] = (unsigned int)cluster_y;
  cluster.value.dims[2] = (unsigned int)cluster_z;
  if (cluster_x > 0) {
    made.attributes = &cluster;
    made.attribute_count = 1;
  }
  launch(&made, function, parameters);
}

void mgpuLaunchKernel(void *function, intptr_t grid_x, intptr_t grid_y, intptr_t grid_z, intptr_t block_x,
                      intptr_t block_y, intptr_t block_z, int32_t shared_bytes, void *stream,
                      void **parameters, void **extra, size_t count) {
  mgpuLaunchClusterKernel(function, 0, 0, 0, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                          stream, parameters, extra, count);
}

void mgpuTensorMapEncodeTiled(void *map, int element, uint32_t rank, void *address, const uint64_t *dims,
                              const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                              int interleave, int swizzle, int promotion, int fill) {
  enter();
  require(cuda.encode(map, element, rank, address, dims, strides, box, steps, interleave, swizzle, promotion,
                      fill),
          "cuTensorMapEncodeTiled");
}

/* Streams and events. */

void *mgpuStreamCreate(void) {
  void *stream = NULL;
  enter();
  require(cuda.stream_create(&stream, NON_BLOCKING), "cuStreamCreate");
  return stream;
}

void mgpuStreamSynchronize(void *stream) { require(cuda.stream_wait(stream), "cuStreamSynchronize"); }

void mgpuStreamDestroy(void *stream) { require(cuda.stream_destroy(stream), "cuStreamDestroy"); }

void mgpuStreamWaitEvent(void *stream, void *event) {
  require(cuda.stream_wait_event(stream, event, 0), "cuStreamWaitEvent");
}

void *mgpuEventCreate(void) {
  void *event = NULL;
  enter();
  require(cuda.event_create(&event, WITHOUT_TIMES), "cuEventCreate");
  return event;
}

void mgpuEventRecord(void *event, void *stream) { require(cuda.event_record(event, stream), "cuEventRecord"); }

void mgpuEventSynchronize(void *event) { require(cuda.event_wait(event), "cuEventSynchronize"); }

void mgpuEventDestroy(void *event) { require(cuda.event_destroy(event), "cuEventDestroy"); }

/* Memory of kernels alone. */

void *mgpuMemAlloc(uint64_t size, void *stream, int is_shared) {
  uint64_t address = 0;
  (void)stream;
  enter();
  require(is_shared ? cuda.allocate_shared(&address, size ? size : 1, ATTACHED_TO_ALL)
                    : cuda.allocate(&address, size ? size : 1),
          "cuMemAlloc");
  return (void *)(uintptr_t)address;
}

/* The driver waits until kernels that were launched before have ended. */
void mgpuMemFree(void *memory, void *stream) {
  (void)stream;
  enter();
  require(cuda.release((uint64_t)(uintptr_t)memory), "cuMemFree");
}

void mgpuMemcpy(void *to, void *from, size_t size, void *stream) {
  require(cuda.copy((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, size, stream), "cuMemcpyAsync");
}

void mgpuMemset32(void *memory, unsigned int value, size_t count, void *stream) {
  require(cuda.fill_32((uint64_t)(uintptr_t)memory, value, count, stream), "cuMemsetD32Async");
}

void mgpuMemset16(void *memory, unsigned short value, size_t count, void *stream) {
  require(cuda.fill_16((uint64_t)(uintptr_t)memory, value, count, stream), "cuMemsetD16Async");
}

/*
 * Memory of `memref.alloc`, behind `finalize-memref-to-llvm{use-generic-functions}`: the host and
 * its kernels both reach it, one after the other.
 */

void *_mlir_memref_to_llvm_alloc(size_t size) { return mgpuMemAlloc(size, NULL, 1); }

void _mlir_memref_to_llvm_free(void *memory) {
  if (memory != NULL) mgpuMemFree(memory, NULL);
}

/* `memref.copy` between strided buffers, of upstream's libmlir_c_runner_utils.so. */

typedef struct {
  int64_t rank;
  char **descriptor; /* allocated, aligned, then offset, sizes and strides in elements */
} unranked;

void memrefCopy(int64_t item_bytes, const unranked *from, const unranked *to) {
  const int64_t rank = from->rank;
  const int64_t *read = (const int64_t *)(const void *)(from->descriptor + 2);
  const int64_t *write = (const int64_t *)(const void *)(to->descriptor + 2);
  int64_t count = 1, place, rest, source, target, dim;
  for (dim = 1; dim <= rank; ++dim) count *= read[dim];
  for (place = 0; place < count; ++place) {
    rest = place, source = read[0], target = write[0];
    for (dim = rank; dim > 0; --dim) {
      source += rest % read[dim] * read[rank + dim];
      target += rest % read[dim] * write[rank + dim];
      rest /= read[dim];
    }
    memcpy(to->descriptor[1] + target * item_bytes, from->descriptor[1] + source * item_bytes,
           (size_t)item_bytes);
  }
}
