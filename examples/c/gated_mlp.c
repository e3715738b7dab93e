/*
 * Calls the kernels of gated_mlp on a GPU, and compares what they compute with values that Python
 * wrote: check VALUES. README.md of the folder above says how it is compiled.
 */

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gated_mlp.h"

enum { INPUTS = 3, TENSORS = 4 };

static const float TOLERANCE = 4e-3f; /* of the largest value */

/* A program of its own has CUDA's headers, and links with -lcuda; this one needs neither. */
static struct {
  int (*init)(unsigned int);
  int (*retain)(void **, int);
  int (*set_current)(void *);
  int (*allocate)(uint64_t *, size_t);
  int (*upload)(uint64_t, const void *, size_t);
  int (*download)(void *, uint64_t, size_t);
  int (*synchronize)(void);
} cuda;

static const char *const names[] = {
    "cuInit",          "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",  "cuMemAlloc_v2",
    "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2",          "cuCtxSynchronize",
};

static void require(int status, const char *what) {
  if (status == 0) return;
  fprintf(stderr, "%s: %s\n", what, mirage_error_gated_mlp(status));
  exit(2);
}

static void find_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  size_t i;
  for (i = 0; i < sizeof names / sizeof *names; ++i) {
    void *symbol = library == NULL ? NULL : dlsym(library, names[i]);
    require(symbol == NULL ? MIRAGE_NO_DRIVER : 0, names[i]);
    memcpy((char *)&cuda + i * sizeof symbol, &symbol, sizeof symbol);
  }
}

static float float_of_half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, sign = bits >> 15;
  const float fraction = (float)(bits & 1023);
  float value = exponent ? ldexpf(fraction + 1024, exponent - 25) : ldexpf(fraction, -24);
  if (exponent == 31) value = fraction > 0 ? NAN : INFINITY;
  return sign ? -value : value;
}

/* The next tensor of the file: its size in bytes, then its elements. */
static void *read_tensor(FILE *file, size_t *size) {
  uint64_t count = 0;
  void *data = NULL;
  if (fread(&count, sizeof count, 1, file) == 1) data = malloc((size_t)count);
  if (data == NULL || fread(data, 1, (size_t)count, file) != count) {
    fprintf(stderr, "the file with values ends too early\n");
    exit(2);
  }
  *size = (size_t)count;
  return data;
}

int main(int count, char **words) {
  FILE *file = count == 2 ? fopen(words[1], "rb") : NULL;
  void *values[TENSORS], *addresses[TENSORS], *scratch = NULL, *context;
  size_t sizes[TENSORS], i;
  uint64_t address = 0;
  uint16_t *found;
  float largest = 0;
  size_t wrong = 0;
  if (file == NULL) {
    fprintf(stderr, "usage: check VALUES\n");
    return 2;
  }
  find_driver();
  require(cuda.init(0), "cuInit");
  require(cuda.retain(&context, 0), "cuDevicePrimaryCtxRetain");
  require(cuda.set_current(context), "cuCtxSetCurrent");
  for (i = 0; i < TENSORS; ++i) {
    values[i] = read_tensor(file, &sizes[i]);
    require(cuda.allocate(&address, sizes[i]), "cuMemAlloc");
    if (i < INPUTS) require(cuda.upload(address, values[i], sizes[i]), "cuMemcpyHtoD");
    addresses[i] = (void *)(uintptr_t)address;
  }
  fclose(file);
  if (mirage_scratch_bytes_gated_mlp() > 0) {
    require(cuda.allocate(&address, mirage_scratch_bytes_gated_mlp()), "cuMemAlloc");
    scratch = (void *)(uintptr_t)address;
  }

  /* The call: inputs, the output, scratch memory, a stream. */
  require(mirage_run_gated_mlp(addresses[0], addresses[1], addresses[2], addresses[3], scratch, NULL),
          "mirage_run_gated_mlp");

  require(cuda.synchronize(), "cuCtxSynchronize");
  found = (uint16_t *)malloc(sizes[INPUTS]);
  if (found == NULL) return 2;
  require(cuda.download(found, (uint64_t)(uintptr_t)addresses[INPUTS], sizes[INPUTS]), "cuMemcpyDtoH");
  for (i = 0; i < sizes[INPUTS] / 2; ++i)
    largest = fmaxf(largest, fabsf(float_of_half(((const uint16_t *)values[INPUTS])[i])));
  for (i = 0; i < sizes[INPUTS] / 2; ++i) {
    const float wanted = float_of_half(((const uint16_t *)values[INPUTS])[i]);
    const float error = fabsf(float_of_half(found[i]) - wanted);
    wrong += !(error <= TOLERANCE * largest); /* also of what is no number */
  }
  printf("%lu of %lu values are wrong\n", (unsigned long)wrong, (unsigned long)(sizes[INPUTS] / 2));
  require(mirage_release_gated_mlp(), "mirage_release_gated_mlp");
  return wrong == 0 ? 0 : 1;
}
